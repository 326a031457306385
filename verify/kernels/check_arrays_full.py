"""Kernels that move elements, in their other types."""

import pytest
from tfsuite import kernels_array
from tfsuite.checks import check

ROWS = kernels_array.ROWS
CASES = [(row.name, dtype) for row in ROWS.values() for dtype in row.dtypes[1:]]


@check(
    "kernels.array_types",
    proves="An operation that moves elements does so in every type, strings included.",
    catches=["transpose-wrong-for-rank-4"],
)
@pytest.mark.parametrize("name,dtype", CASES)
def check_array_types(name, dtype):
    return kernels_array.hold(name, dtype)
