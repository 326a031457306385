"""Reductions in their other types."""

import pytest
from tfsuite import kernels_reduce
from tfsuite.checks import check

ROWS = kernels_reduce.ROWS
CASES = [
    (name, dtype, layout)
    for name in sorted(ROWS)
    for dtype in ROWS[name].dtypes[1:]
    for layout in sorted(kernels_reduce.LAYOUTS)
    # 16-bit sums of a thousand terms are another check: they have their own defects.
    if layout not in ROWS[name].skip and (layout != "large" or "16" not in dtype)
]


@check(
    "kernels.reduce_types",
    proves="A reduction is right in every type, over every layout of axes.",
    catches=["sum-double-in-single"],
)
@pytest.mark.parametrize("name,dtype,layout", CASES)
def check_reduce_types(name, dtype, layout):
    return kernels_reduce.hold(name, dtype, layout)
