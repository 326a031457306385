"""Compilation that the program asks for: tf.function(jit_compile=True), and its predecessors."""

from tfsuite import graphs, xla
from tfsuite.checks import check, raises, require, same
from tfsuite.lazy import np


def chain(tf, x):
    """Several elementwise ops and a reduction: XLA fuses them into one kernel."""
    return tf.reduce_sum(tf.tanh(x * 2.0 + 1.0) * tf.exp(-x), axis=-1)


def reference(x):
    x = x.astype("float64")
    return np.sum(np.tanh(x * 2.0 + 1.0) * np.exp(-x), axis=-1)


def scale(x):
    x = x.astype("float64")
    return np.sum(np.abs(np.tanh(x * 2.0 + 1.0) * np.exp(-x)), axis=-1)


def data():
    return np.random.RandomState(3).uniform(-1, 1, (8, 16)).astype("float32")


def close(got, x):
    worst = float(np.max(np.abs(got - reference(x)) / (2.0**-24 * scale(x))))
    require(worst <= 16, "differs from float64 by %.3g eps*sum|x|, bound 16" % worst)
    return worst


def compiled(tf, function):
    """`function` with the keyword that this release has."""
    try:
        return tf.function(function, jit_compile=True)
    except TypeError:
        return tf.function(function, experimental_compile=True)


@check(
    "xla.jit_compile",
    proves="tf.function(jit_compile=True) runs an XLA executable, with the same numbers.",
    catches=["jit-compile-ignored"],
    needs=["xla", "jit-keyword=jit_compile"],
)
def check_jit_compile(tf):
    x = data()
    before = len(xla.modules())
    function = compiled(tf, lambda v: chain(tf, v))
    got = function(tf.constant(x)).numpy()
    made = len(xla.modules()) - before
    require(made >= 1, "no HLO module was written: nothing was compiled")
    hlo = function.experimental_get_compiler_ir(tf.constant(x))(stage="optimized_hlo")
    require("HloModule" in hlo, "the compiler's output is not HLO")
    require("fusion" in hlo, "XLA did not fuse the elementwise chain")
    plain = chain(tf, tf.constant(x)).numpy()
    close(plain, x)
    return "%d HLO module(s), fused; error %.2g eps*sum|x|" % (made, close(got, x))


@check(
    "xla.jit_compile_refuses",
    proves="jit_compile=True compiles or fails: an op that XLA lacks is an error, not a fallback.",
    catches=["jit-compile-ignored"],
    needs=["xla", "jit-keyword=jit_compile"],
)
def check_jit_compile_refuses(tf):
    function = compiled(tf, lambda v: tf.strings.length(tf.strings.as_string(v)))
    error = raises(
        tf.errors.InvalidArgumentError,
        lambda: function(tf.constant([1.0])),
        "a string op inside jit_compile",
    )
    require(
        "XLA" in str(error) or "unsupported" in str(error), "the message is %r" % str(error)[:200]
    )
    return str(error).splitlines()[0][:120]


@check(
    "xla.compile",
    proves="xla.compile in a Session runs as one XlaLaunch node, with the same numbers.",
    catches=["xla-compile-ignored"],
    releases=">=1.15",
    needs=["xla"],
)
def check_xla_compile(tf1):
    x = data()
    with graphs.session() as session:
        v = tf1.placeholder("float32", x.shape)
        (op,) = tf1.xla.experimental.compile(lambda w: chain(tf1, w), [v])
        run = graphs.traced(session, op, {v: x})
        plain = session.run(chain(tf1, v), {v: x})
    found = xla.clustered(run)
    require("XlaLaunch" in found, "the run has no XlaLaunch node: %s" % sorted(run.ops()))
    same(
        "the number of plain Tanh nodes",
        sum(n.op == "Tanh" for g in run.partitions for n in g.node),
        0,
    )
    close(plain, x)
    return "%s; error %.2g eps*sum|x|" % (", ".join(found), close(run.value, x))
