"""Random kernels: the same seed gives the same numbers, and the numbers have their distribution."""

import math

from tfsuite import graphs, kernels
from tfsuite.checks import Wrong, require
from tfsuite.lazy import np

SIZE = 20000
# The Kolmogorov-Smirnov distance that a right distribution passes in all but one of 10^6 seeds:
# sqrt(ln(2/p)/2), and the seed is fixed, so that a check that passes once passes always.
LIMIT = math.sqrt(math.log(2e6) / 2)


def normal(x):
    return np.array([0.5 * math.erfc(-v / math.sqrt(2.0)) for v in x.tolist()])


def truncated(x):
    low, high = normal(np.array([-2.0, 2.0]))
    return (normal(x) - low) / (high - low)


def uniform(x):
    return np.clip(x, 0, 1)


def gamma3(x):
    """Gamma with shape 3 and rate 1."""
    return 1 - np.exp(-x) * (1 + x + x * x / 2)


SAMPLERS = {
    "random_uniform": (lambda t, seed: t.random_uniform([SIZE], seed=seed), uniform),
    "random_normal": (lambda t, seed: t.random_normal([SIZE], seed=seed), normal),
    "truncated_normal": (lambda t, seed: t.truncated_normal([SIZE], seed=seed), truncated),
    "random_gamma": (lambda t, seed: t.random_gamma([SIZE], 3.0, seed=seed), gamma3),
    "uniform_double": (
        lambda t, seed: t.random_uniform([SIZE], dtype=t.float64, seed=seed),
        uniform,
    ),
    "normal_double": (lambda t, seed: t.random_normal([SIZE], dtype=t.float64, seed=seed), normal),
    "stateless_uniform": (
        lambda t, seed: stateless(t).stateless_random_uniform([SIZE], [seed, 3]),
        uniform,
    ),
    "stateless_normal": (
        lambda t, seed: stateless(t).stateless_random_normal([SIZE], [seed, 3]),
        normal,
    ),
}
# Whole numbers: the probability of each value.
COUNTS = {
    "uniform_int": (lambda t, seed: t.random_uniform([SIZE], 0, 5, t.int32, seed=seed), [0.2] * 5),
    "multinomial": (
        lambda t, seed: t.multinomial(t.log([[0.1, 0.2, 0.7]]), SIZE, seed=seed)[0],
        [0.1, 0.2, 0.7],
    ),
    "random_poisson": (
        lambda t, seed: t.cast(t.random_poisson(2.0, [SIZE], seed=seed), t.int32),
        [math.exp(-2.0) * 2.0**k / math.factorial(k) for k in range(12)],
    ),
}


def stateless(t):
    if hasattr(t, "random") and hasattr(t.random, "stateless_uniform"):
        return Renamed(t.random)
    return t.contrib.stateless


class Renamed(object):
    """tf.random's names of what tf.contrib called otherwise."""

    def __init__(self, module):
        self.stateless_random_uniform = module.stateless_uniform
        self.stateless_random_normal = module.stateless_normal


def draws(make, seed, runs=1):
    with graphs.session() as session:
        try:
            out = make(graphs.v1(), seed)
        except Exception as error:
            if kernels.absent(error):
                raise kernels.Missing(kernels.shortened(error)) from error
            raise
        return [session.run(out) for _ in range(runs)]


def seeded(name):
    """The same seed in two sessions gives the same numbers, another seed gives others."""
    make = dict(SAMPLERS, **COUNTS)[name][0]

    def call():
        first, again, other = draws(make, 7)[0], draws(make, 7)[0], draws(make, 8)[0]
        kernels.same(first, again, "the second session's numbers")
        require(np.any(first != other), "two seeds give the same numbers")
        return "%d numbers repeat" % first.size

    return kernels.case("random.%s.seeded" % name, call)


def advances(name):
    """Two runs of one session give different numbers; stateless ones the same."""
    make = SAMPLERS[name][0]

    def call():
        one, two = draws(make, 7, runs=2)
        if name.startswith("stateless"):
            return kernels.same(one, two)
        require(np.any(one != two), "the second run gives the numbers of the first")
        return "the second run goes on"

    return kernels.case("random.%s.advances" % name, call)


def distributed(name):
    """The largest distance between the numbers' distribution and the function's."""
    make, distribution = SAMPLERS[name]

    def call():
        values = np.sort(draws(make, 11)[0].astype("float64"))
        size = len(values)
        want = distribution(values)
        steps = np.arange(size + 1) / float(size)
        distance = max(np.max(np.abs(want - steps[1:])), np.max(np.abs(want - steps[:-1])))
        return within(float(distance * math.sqrt(size)), LIMIT, "sqrt(n)*distance")

    return kernels.case("random.%s.distributed" % name, call)


def counted(name):
    """Each value as often as its probability says, within 5.5 standard deviations."""
    make, chances = COUNTS[name]

    def call():
        values = draws(make, 11)[0]
        worst = 0.0
        for value, chance in enumerate(chances):
            seen = float(np.sum(values == value))
            deviation = math.sqrt(SIZE * chance * (1 - chance))
            worst = max(worst, abs(seen - SIZE * chance) / max(deviation, 1.0))
        return within(worst, 5.5, "standard deviations")

    return kernels.case("random.%s.counted" % name, call)


def within(error, bound, unit):
    data = {"error": error, "bound": bound, "unit": unit}
    text = "%.3g %s, bound %.3g" % (error, unit, bound)
    if not error <= bound:
        raise Wrong(text, data)
    return text, data


def shuffled():
    """random_shuffle permutes rows, and random_crop cuts inside."""

    def call():
        def build(t, seed):
            return t.random_shuffle(t.reshape(t.range(60), [20, 3]), seed=seed)

        got = draws(build, 5)[0]
        rows = np.arange(60).reshape(20, 3)
        require(not np.array_equal(got, rows), "nothing was shuffled")
        kernels.same(got[np.argsort(got[:, 0])], rows, "the sorted rows")
        crop = draws(
            lambda t, s: t.random_crop(t.reshape(t.range(60), [10, 6]), [3, 4], seed=s), 5
        )[0]
        kernels.same(crop, crop[0, 0] + 6 * np.arange(3)[:, None] + np.arange(4), "the crop")
        return "20 rows permuted"

    return kernels.case("random.shuffle.rows", call)


def dropped():
    """dropout keeps about as many as it says, scaled."""

    def call():
        got = draws(lambda t, s: t.nn.dropout(t.ones([SIZE]), 0.75, seed=s), 3)[0]
        kept = got != 0
        require(np.all(np.abs(got[kept] * 0.75 - 1) < 1e-6), "kept values are not scaled by 4/3")
        deviation = math.sqrt(SIZE * 0.75 * 0.25)
        return within(abs(np.sum(kept) - SIZE * 0.75) / deviation, 5.5, "standard deviations")

    return kernels.case("random.dropout.kept", call)
