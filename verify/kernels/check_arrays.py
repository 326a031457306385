"""Kernels that move elements, and conversions: exact."""

import pytest
from tfsuite import kernels_array
from tfsuite.checks import check

ROWS = kernels_array.ROWS


@check(
    "kernels.array",
    proves="An operation that moves elements puts each where numpy does.",
    catches=["transpose-wrong-for-rank-4", "gather-misses-last-row"],
)
@pytest.mark.parametrize("name", sorted(ROWS))
def check_array(name):
    return kernels_array.hold(name, ROWS[name].dtypes[0])


@check(
    "kernels.cast",
    proves="A conversion truncates towards zero, or rounds to nearest even, as numpy does.",
    catches=["cast-rounds"],
)
@pytest.mark.parametrize("source,target", kernels_array.CASTS)
def check_cast(source, target):
    return kernels_array.cast(source, target)
