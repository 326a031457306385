"""Kernels with oneDNN switched off (TF_ENABLE_ONEDNN_OPTS=0)."""

import pytest
from tfsuite import kernels_onednn
from tfsuite.checks import check


@check(
    "kernels.onednn_off_taken",
    proves="TF_ENABLE_ONEDNN_OPTS=0 switches oneDNN's nodes off in the graph that runs.",
    catches=["onednn-always-on"],
    releases=">=2.5",
    platforms=["linux"],
)
def check_onednn_off_taken():
    return kernels_onednn.taken(False)


@check(
    "kernels.onednn_off",
    proves="Products, convolutions and pooling with oneDNN off are within the same bounds.",
    catches=["wrong-conv2d"],
    releases=">=2.5",
)
@pytest.mark.parametrize("name", kernels_onednn.NAMES)
def check_onednn_off(name):
    return kernels_onednn.hold(name)
