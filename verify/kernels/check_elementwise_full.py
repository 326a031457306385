"""Elementwise kernels in their other types and in shapes that take other paths."""

import pytest
from tfsuite import kernels, kernels_binary, kernels_unary
from tfsuite.checks import check

UNARY = [
    (row.key, dtype) for row in kernels_unary.TABLE for dtype in row.dtypes if dtype != "float32"
]
QUICK = ("add", "subtract", "multiply")
BINARY = [
    (row.key, dtype)
    for row in kernels_binary.TABLE
    for dtype in row.dtypes[1:]
    if dtype != "int32" or row.key not in QUICK
]


@check(
    "kernels.unary_types",
    proves="A function of one argument is within its ULPs in every type that the release has.",
    catches=["sqrt-double-in-single"],
)
@pytest.mark.parametrize("name,dtype", UNARY)
def check_unary_types(name, dtype):
    return kernels_unary.hold(name, dtype)


@check(
    "kernels.unary_shapes",
    proves="A function of one argument is within its ULPs for empty, single, strided, large input.",
    catches=["tanh-wrong-for-odd-sizes"],
)
@pytest.mark.parametrize("shape", kernels.SHAPES)
@pytest.mark.parametrize("name", sorted(kernels_unary.ROWS))
def check_unary_shapes(name, shape):
    return kernels_unary.hold(name, "float32", shape)


@check(
    "kernels.binary_types",
    proves="A function of two arguments is right in every type that the release has.",
    catches=["add-double-in-single"],
)
@pytest.mark.parametrize("name,dtype", BINARY)
def check_binary_types(name, dtype):
    return kernels_binary.hold(name, dtype)


@check(
    "kernels.broadcast",
    proves="Arguments of different shapes are broadcast as numpy does, up to rank 4.",
    catches=["broadcast-shifted"],
)
@pytest.mark.parametrize("shapes", sorted(kernels_binary.BROADCASTS))
@pytest.mark.parametrize("name", kernels_binary.BROADCAST)
def check_broadcast(name, shapes):
    return kernels_binary.broadcast(name, shapes)


@check(
    "kernels.compare",
    proves="Comparisons are Python's, with NaN equal to nothing and both zeros equal.",
    catches=["nan-equals-nan"],
)
@pytest.mark.parametrize("name,dtype", kernels_binary.COMPARED)
def check_compare(name, dtype):
    return kernels_binary.compare(name, dtype)
