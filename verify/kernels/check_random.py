"""Random kernels."""

import pytest
from tfsuite import kernels_random
from tfsuite.checks import check

ALL = sorted(kernels_random.SAMPLERS) + sorted(kernels_random.COUNTS)


@check(
    "kernels.random_seeded",
    proves="A seed repeats its numbers in a new session, and another seed gives others.",
    catches=["random-ignores-seed"],
)
@pytest.mark.parametrize("name", ALL)
def check_random_seeded(name):
    return kernels_random.seeded(name)


@check(
    "kernels.random_advances",
    proves="A stateful generator goes on from run to run, a stateless one does not.",
    catches=["random-stands-still"],
)
@pytest.mark.parametrize("name", sorted(kernels_random.SAMPLERS))
def check_random_advances(name):
    return kernels_random.advances(name)


@check(
    "kernels.random_distributed",
    proves="Numbers have their distribution by a Kolmogorov-Smirnov test at 1e-6.",
    catches=["normal-too-wide"],
)
@pytest.mark.parametrize("name", sorted(kernels_random.SAMPLERS))
def check_random_distributed(name):
    return kernels_random.distributed(name)


@check(
    "kernels.random_counted",
    proves="Whole random numbers are as frequent as their probabilities say.",
    catches=["uniform-int-misses-last"],
)
@pytest.mark.parametrize("name", sorted(kernels_random.COUNTS))
def check_random_counted(name):
    return kernels_random.counted(name)


@check(
    "kernels.random_shuffle",
    proves="random_shuffle permutes whole rows and random_crop cuts one piece.",
    catches=["shuffle-loses-rows"],
)
def check_random_shuffle():
    return kernels_random.shuffled()


@check(
    "kernels.dropout",
    proves="dropout keeps as many as it says and scales them.",
    catches=["dropout-unscaled"],
)
def check_dropout():
    return kernels_random.dropped()
