"""Reductions over the axes that take different paths, scans and segments."""

import pytest
from tfsuite import kernels_reduce
from tfsuite.checks import check

ROWS = kernels_reduce.ROWS
CASES = [
    (name, dtype, layout)
    for name in sorted(ROWS)
    for dtype in ROWS[name].dtypes[:1]
    for layout in sorted(kernels_reduce.LAYOUTS)
    if layout not in ROWS[name].skip
]


@check(
    "kernels.reduce",
    proves="A reduction is right over inner, outer, middle, several, no and empty axes.",
    catches=["mean-of-odd-sizes", "max-drops-nan"],
)
@pytest.mark.parametrize("name,dtype,layout", CASES)
def check_reduce(name, dtype, layout):
    return kernels_reduce.hold(name, dtype, layout)


@check(
    "kernels.reduce_bool",
    proves="reduce_any and reduce_all are right over every layout, empty ones included.",
    catches=["any-is-all"],
)
@pytest.mark.parametrize("layout", sorted(kernels_reduce.LAYOUTS))
@pytest.mark.parametrize("name", ["reduce_all", "reduce_any"])
def check_reduce_bool(name, layout):
    return kernels_reduce.booleans(name, layout)


@check(
    "kernels.arg",
    proves="argmax and argmin give the first of equal elements.",
    catches=["argmax-last-of-equals"],
)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64", "uint8"])
@pytest.mark.parametrize("name", ["argmax", "argmin"])
def check_arg(name, dtype):
    return kernels_reduce.arguments(name, dtype)


@check(
    "kernels.scan",
    proves="cumsum and cumprod are right along both axes, exclusive and in reverse.",
    catches=["cumsum-ignores-reverse"],
)
@pytest.mark.parametrize("mode", ["plain", "exclusive", "reverse", "exclusive_reverse"])
@pytest.mark.parametrize("dtype", ["float32", "int32"])
@pytest.mark.parametrize("name", ["cumprod", "cumsum"])
def check_scan(name, dtype, mode):
    return kernels_reduce.scans(name, dtype, mode)


@check(
    "kernels.segment",
    proves="Segment reductions gather the rows of each segment, and only those.",
    catches=["segment-off-by-one"],
)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", sorted(kernels_reduce.SEGMENTS))
def check_segment(name, dtype):
    return kernels_reduce.segments(name, dtype)
