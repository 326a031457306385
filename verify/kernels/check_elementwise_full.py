"""Elementwise kernels in their other types and in shapes that take other paths."""

import pytest
from tfsuite import kernels, kernels_unary
from tfsuite.checks import check

TYPES = [
    (row.key, dtype) for row in kernels_unary.TABLE for dtype in row.dtypes if dtype != "float32"
]


@check(
    "kernels.unary_types",
    proves="A function of one argument is within its ULPs in every type that the release has.",
    catches=["sqrt-double-in-single"],
)
@pytest.mark.parametrize("name,dtype", TYPES)
def check_unary_types(name, dtype):
    return kernels_unary.hold(name, dtype)


@check(
    "kernels.unary_shapes",
    proves="A function of one argument is within its ULPs for empty, single, strided and large inputs.",
    catches=["tanh-wrong-for-odd-sizes"],
)
@pytest.mark.parametrize("shape", kernels.SHAPES)
@pytest.mark.parametrize("name", sorted(kernels_unary.ROWS))
def check_unary_shapes(name, shape):
    return kernels_unary.hold(name, "float32", shape)
