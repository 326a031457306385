"""Single inputs on which released kernels are, or were, wrong; and those that end the process."""

import os
import subprocess
import sys
import tempfile

from tfsuite import graphs, kernels, numerics, reference
from tfsuite.checks import Wrong, require
from tfsuite.lazy import np


def outer_sum():
    """A column of 400,000 numbers: summed one by one its error grows with its length."""
    values = np.random.RandomState(1).uniform(0, 1, (400000, 4)).astype("float32")
    got = run("reduce_sum", values, [0])
    want = values.sum(0, dtype="float64")
    return numerics.contraction(got, want, want, "float32")


def inner_sum():
    """A row of a million numbers."""
    values = np.random.RandomState(1).uniform(0, 1, (2, 1000000)).astype("float32")
    got = run("reduce_sum", values, [1])
    want = values.sum(1, dtype="float64")
    return numerics.contraction(got, want, want, "float32")


def half_mean():
    """65,536 small numbers in float16, whose count is beyond float16's largest number."""
    values = np.random.RandomState(0).uniform(0.0005, 0.0015, 65536).astype("float16")
    got = np.asarray(run("reduce_mean", values, [0]), "float64")
    want = values.astype("float64").mean()
    scale = np.abs(values).astype("float64").mean()
    return numerics.contraction(got, np.asarray(want), scale, "float16")


def half_sum():
    """2,048 ones and 2,048 halves in float16: a float16 accumulator stands still at 2,048."""
    values = np.concatenate([np.ones(2048), np.full(2048, 0.5)]).astype("float16")
    got = np.asarray(run("reduce_sum", values, [0]), "float64")
    return numerics.contraction(got, np.asarray(3072.0), 3072.0, "float16")


def large_mean():
    """The mean of 67 million numbers around 100 over four of five axes."""
    block = np.random.RandomState(0).normal(100, 1, (1, 256, 256, 1, 4)).astype("float32")
    values = np.repeat(block, 256, 3)
    got = run("reduce_mean", values, [0, 1, 2, 3])
    want = block.mean((0, 1, 2, 3), dtype="float64")
    return numerics.contraction(got, want, want, "float32")


# The numbers of tensorflow#102043.
MEANS = [-1259020531, -29136942, 600128499, 1295813448, -1325241620, -1204075648, -722710057]
MEANS += [-1923428316, 783823385, -1364058804, 1368162570, -470258899, -1730468409]


def integer_mean(compiled=False):
    """The mean of 32-bit integers whose sum does not fit into 32 bits."""
    got = run("reduce_mean", np.array(MEANS, "int32"), [0], compiled)
    want = int(sum(MEANS) / float(len(MEANS)))
    require(int(got) == want, "the mean is %d, expected %d" % (got, want))
    return "%d" % got


def empty_convolution():
    """A convolution of no pictures has the shape of its pictures."""
    x, w = np.zeros((0, 4, 4, 2), "float32"), np.ones((3, 3, 2, 5), "float32")

    def build(a, b):
        return graphs.v1().nn.conv2d(a, b, strides=[1, 1, 1, 1], padding="SAME")

    got = kernels.evaluate(build, [x, w], ["float32"] * 2)
    return kernels.same(got, np.zeros((0, 4, 4, 5), "float32"))


def absolute_after_square(compiled):
    """abs of a square that overflowed, only where it is negative."""
    values = np.array([12, 7, 20, 15, 11], "int8")

    def build(x):
        tf1 = graphs.v1()
        square = x * x
        return tf1.where(tf1.less(square, 0), tf1.abs(square), square)

    got = kernels.evaluate(build, [values], ["int8"], compiled=compiled)
    return kernels.same(got, np.array([112, 49, 112, 31, 121], "int8"))


def argmax_nan():
    """numpy's argmax gives the first NaN."""
    values = np.array([1.0, float("nan"), 3.0, 2.0], "float32")
    got = kernels.evaluate(lambda x: graphs.v1().argmax(x, 0), [values], ["float32"])
    return kernels.same(got, np.array(1))


def large_sine():
    """sin far from zero, where the argument has to be reduced by pi in more than one word."""
    from tfsuite import ulp

    values = np.random.RandomState(3).uniform(1e5, 2e5, 64).astype("float32")
    got = kernels.evaluate(lambda x: graphs.v1().sin(x), [values], ["float32"], ("Sin",))
    want = reference.exact("sin", values.astype("float64"))
    return ulp.hold(got, [want], "float32", 2, [values], floor=1.0)


def small_sigmoid():
    """sigmoid between -8 and 8 in relative terms."""
    from tfsuite import ulp

    values = np.linspace(-8, 8, 1001).astype("float32")
    got = kernels.evaluate(lambda x: graphs.v1().sigmoid(x), [values], ["float32"], ("Sigmoid",))
    want = reference.exact("sigmoid", values.astype("float64"))
    return ulp.hold(got, [want], "float32", 8, [values])


def max_with_nan():
    """A maximum over NaN is NaN, wherever the NaN stands."""
    values = np.ones((9, 9), "float32")
    values[np.arange(9), np.arange(9)] = float("nan")
    got = run("reduce_max", values, [1])
    return kernels.same(got, np.full(9, np.nan, "float32"))


def negative_zero_sum():
    """Minus zero is kept by a sum of minus zeros only in IEEE arithmetic without a start of 0."""
    got = kernels.evaluate(lambda x: -x, [np.array([0.0], "float32")], ["float32"])
    require(np.signbit(got[0]), "-(0.0) is %r" % got[0])
    return "sign kept"


def cast_nan():
    """NaN stays NaN from float32 to float16, bfloat16 and float64."""
    values = np.array([float("nan"), 1.0], "float32")
    for kind in ("float16", "bfloat16", "float64"):

        def build(x, kind=kind):
            tf1 = graphs.v1()
            return tf1.cast(tf1.cast(x, getattr(tf1, kind)), "float32")

        got = kernels.evaluate(build, [values], ["float32"])
        require(np.isnan(got[0]) and got[1] == 1.0, "through %s it is %r" % (kind, got))
    return "through three types"


def gather_outside():
    """An index beyond the end is an error on the CPU."""
    tf1 = graphs.v1()
    values = np.arange(4, dtype="float32")
    try:
        got = kernels.evaluate(
            lambda x, i: tf1.gather(x, i), [values, np.array([4], "int32")], ["float32", "int32"]
        )
    except tf1.errors.InvalidArgumentError:
        return "InvalidArgumentError"
    raise Wrong("no error, but %r" % got)


def divided_by_zero():
    """An integer divided by zero is an error."""
    tf1 = graphs.v1()
    try:
        got = kernels.evaluate(
            lambda x, y: tf1.floordiv(x, y),
            [np.array([1], "int32"), np.array([0], "int32")],
            ["int32"] * 2,
        )
    except tf1.errors.InvalidArgumentError:
        return "InvalidArgumentError"
    raise Wrong("no error, but %r" % got)


def floordiv_edges():
    """Floor division at the ends of the type."""
    first = np.array([-(2**31), -(2**31) + 1, 2**31 - 1, -(2**31)], "int32")
    second = np.array([2**31 - 1, 2**31 - 1, -(2**31), 2], "int32")
    got = kernels.evaluate(lambda x, y: graphs.v1().floordiv(x, y), [first, second], ["int32"] * 2)
    want = [a // b for a, b in zip(first.tolist(), second.tolist())]
    return kernels.same(got, np.array(want, "int32"))


def run(name, values, axes, compiled=False):
    def build(x):
        return getattr(graphs.v1(), name)(x, axis=axes)

    return kernels.evaluate(build, [values], [str(values.dtype)], compiled=compiled)


VECTORS = {
    "outer_sum": outer_sum,
    "inner_sum": inner_sum,
    "half_mean": half_mean,
    "half_sum": half_sum,
    "large_mean": large_mean,
    "integer_mean": integer_mean,
    "absolute_after_square": lambda: absolute_after_square(False),
    "argmax_nan": argmax_nan,
    "empty_convolution": empty_convolution,
    "large_sine": large_sine,
    "small_sigmoid": small_sigmoid,
    "max_with_nan": max_with_nan,
    "negative_zero": negative_zero_sum,
    "cast_nan": cast_nan,
    "gather_outside": gather_outside,
    "divided_by_zero": divided_by_zero,
    "floordiv_edges": floordiv_edges,
}
COMPILED = {
    "integer_mean": lambda: integer_mean(True),
    "absolute_after_square": lambda: absolute_after_square(True),
}


def hold(name):
    return kernels.case("vector.%s.any" % name, VECTORS[name])


def compiled(name):
    return kernels.case("vector_xla.%s.any" % name, COMPILED[name])


# Programs that may end their process: each runs in one of its own. What it must print follows.
PROGRAM = """
import sys
sys.path.extend(%r)
import numpy as np
import tensorflow as tf
from tfsuite import graphs
t = graphs.v1()
with graphs.session() as session:
    %s
"""
CRASHES = {
    "slice_backwards": (
        ["x = t.placeholder('float32', [6])"],
        "[t.reduce_sum(x[4:0])], {x: np.ones([6])}",
        "0.0",
    ),
    "int_min_floordiv": (
        ["x, y = t.placeholder('int32', [1]), t.placeholder('int32', [1])"],
        "t.floordiv(x, y), {x: [-2**31], y: [-1]}",
        "-2147483648",
    ),
    "int_min_truncatediv": (
        ["x, y = t.placeholder('int64', [1]), t.placeholder('int64', [1])"],
        "t.truncatediv(x, y), {x: [-2**63], y: [-1]}",
        "-9223372036854775808",
    ),
    "int_min_mod": (
        ["x, y = t.placeholder('int32', [1]), t.placeholder('int32', [1])"],
        "t.floormod(x, y), {x: [-2**31], y: [-1]}",
        "0",
    ),
    "matmul_onednn": (
        ["a = t.placeholder('float32', [256, 1024])", "b = t.placeholder('float32', [1024, 256])"],
        "t.matmul(a, b)[0, :1], {a: np.ones([256, 1024]), b: np.ones([1024, 256])}",
        "1024.0",
    ),
}


def crash(name):
    """Run a program in its own process: it must print what it should."""
    lines, run, want = CRASHES[name]
    body = "\n    ".join([*lines, "print(session.run(%s)[0])" % run])

    def call():
        paths = [p for p in sys.path if p]
        env = dict(os.environ)
        env["TF_CPP_MIN_LOG_LEVEL"] = "3"
        if name.endswith("onednn"):
            env["TF_ENABLE_ONEDNN_OPTS"] = "1"
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            command = [sys.executable, "-I", "-c", PROGRAM % (paths, body)]
            code = subprocess.call(command, env=env, stdout=out, stderr=err)
            out.seek(0)
            err.seek(0)
            said = out.read().decode("utf-8", "replace").split()
            last = err.read().decode("utf-8", "replace").strip()[-200:]
        if code < 0:
            raise Wrong("the process died of signal %d" % -code)
        require(code == 0, "the process ended with status %d: %s" % (code, last))
        require(said[-1:] == [want], "printed %s, expected %s" % (said[-1:], want))
        return "printed " + want

    return kernels.case("crash.%s.any" % name, call)
