"""Elementwise kernels in float32, with NaN, infinities, zeros of both signs and denormals."""

import pytest
from tfsuite import kernels_binary, kernels_unary
from tfsuite.checks import check

BINARY = [(row.key, row.dtypes[0]) for row in kernels_binary.TABLE]
BINARY += [(key, "int32") for key in ("add", "subtract", "multiply")]


@check(
    "kernels.unary",
    proves="A function of one argument is within its ULPs of the exact value, at special values too.",
    catches=["exp-fifty-ulps", "relu-drops-nan", "tanh-wrong-for-odd-sizes"],
)
@pytest.mark.parametrize("name", sorted(kernels_unary.ROWS))
def check_unary(name):
    return kernels_unary.hold(name, "float32")


@check(
    "kernels.binary",
    proves="A function of two arguments is within its ULPs; of integers exact, overflow included.",
    catches=["add-saturates"],
)
@pytest.mark.parametrize("name,dtype", BINARY)
def check_binary(name, dtype):
    return kernels_binary.hold(name, dtype)
