"""Kernels with oneDNN switched on (TF_ENABLE_ONEDNN_OPTS=1)."""

import pytest
from tfsuite import kernels_onednn
from tfsuite.checks import check


@check(
    "kernels.onednn_on_taken",
    proves="TF_ENABLE_ONEDNN_OPTS=1 switches oneDNN's nodes on in the graph that runs.",
    catches=["onednn-always-off"],
    releases=">=2.5",
    platforms=["linux"],
)
def check_onednn_on_taken():
    return kernels_onednn.taken(True)


@check(
    "kernels.onednn_on",
    proves="Products, convolutions and pooling with oneDNN on are within the same bounds.",
    catches=["wrong-conv2d"],
    releases=">=2.5",
)
@pytest.mark.parametrize("name", kernels_onednn.NAMES)
def check_onednn_on(name):
    return kernels_onednn.hold(name)
