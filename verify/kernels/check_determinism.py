"""Kernels that give other bits from run to run."""

import pytest
from tfsuite import kernels_determinism
from tfsuite.checks import check


@check(
    "kernels.determinism",
    proves="A kernel gives the same bits in every run, on four threads.",
    catches=["sum-not-deterministic"],
)
@pytest.mark.parametrize("name", sorted(kernels_determinism.BUILDS))
def check_determinism(name):
    return kernels_determinism.hold(name)
