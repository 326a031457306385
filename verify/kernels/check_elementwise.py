"""Elementwise kernels in float32, with NaN, infinities, zeros of both signs and denormals."""

import pytest
from tfsuite import kernels_unary
from tfsuite.checks import check


@check(
    "kernels.unary",
    proves="A function of one argument is within its ULPs of the exact value, special values included.",
    catches=["exp-fifty-ulps", "relu-drops-nan"],
)
@pytest.mark.parametrize("name", sorted(kernels_unary.ROWS))
def check_unary(name):
    return kernels_unary.hold(name, "float32")
