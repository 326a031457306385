"""Inputs on which released kernels are, or were, wrong."""

import pytest
from tfsuite import kernels_vectors
from tfsuite.checks import check


@check(
    "kernels.vector",
    proves="An input from a public report, or found by this suite, gives the right result.",
    catches=["sigmoid-repaired", "gather-clamps", "max-drops-nan"],
)
@pytest.mark.parametrize("name", sorted(kernels_vectors.VECTORS))
def check_vector(name):
    return kernels_vectors.hold(name)


@check(
    "kernels.crash",
    proves="An input that ended the process in some release gives its result.",
    catches=["floordiv-aborts"],
)
@pytest.mark.parametrize("name", sorted(kernels_vectors.CRASHES))
def check_crash(name):
    return kernels_vectors.crash(name)
