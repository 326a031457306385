"""tf.function(jit_compile=True), and xla.compile, which compile or fail."""

import time

import pytest
from tfsuite import graphs, xla
from tfsuite.checks import check, raises, require, same
from tfsuite.lazy import np


def chain(tf, x):
    """Several elementwise ops and a reduction: XLA fuses them into one kernel."""
    return tf.reduce_sum(tf.tanh(x * 2.0 + 1.0) * tf.exp(-x), axis=-1)


def terms(x):
    x = x.astype("float64")
    return np.tanh(x * 2.0 + 1.0) * np.exp(-x)


def data():
    return np.random.RandomState(3).uniform(-1, 1, (8, 16)).astype("float32")


def close(got, x):
    scale = np.sum(np.abs(terms(x)), axis=-1)
    worst = float(np.max(np.abs(got - np.sum(terms(x), axis=-1)) / (xla.EPS * scale)))
    require(worst <= 16, "differs from float64 by %.3g eps*sum|x|, bound 16" % worst)
    return worst


@check(
    "xla.jit_compile",
    proves="tf.function(jit_compile=True) runs an XLA executable, with the same numbers.",
    catches=["jit-compile-ignored"],
    needs=["xla", "jit-keyword=jit_compile"],
)
def check_jit_compile(tf):
    x = data()
    before = len(xla.modules())
    function = tf.function(lambda v: chain(tf, v), jit_compile=True)
    got = function(tf.constant(x)).numpy()
    made = len(xla.modules()) - before
    require(made >= 1, "no HLO module was written: nothing was compiled")
    close(chain(tf, tf.constant(x)).numpy(), x)
    return "%d HLO module(s); error %.2g eps*sum|x|" % (made, close(got, x))


@check(
    "xla.must_compile_attribute",
    proves="The function that jit_compile makes carries the attribute that forbids a fallback.",
    catches=["jit-compile-ignored"],
    needs=["xla", "jit-keyword=jit_compile"],
)
def check_must_compile_attribute(tf):
    function = tf.function(lambda v: v * 2.0, jit_compile=True)
    concrete = function.get_concrete_function(tf.zeros([2]))
    attributes = concrete.function_def.attr
    require("_XlaMustCompile" in attributes, "the attributes are %s" % sorted(attributes))
    require(attributes["_XlaMustCompile"].b, "_XlaMustCompile is false")
    return "_XlaMustCompile"


@check(
    "xla.compiler_ir",
    proves="The compiler's own output for a function can be read: HLO, then fused HLO.",
    catches=["jit-compile-ignored"],
    needs=["xla", "jit-keyword=jit_compile", "compiler-ir"],
)
@pytest.mark.parametrize("stage", ["hlo", "optimized_hlo"])
def check_compiler_ir(tf, stage):
    function = tf.function(lambda v: chain(tf, v), jit_compile=True)
    text = function.experimental_get_compiler_ir(tf.constant(data()))(stage=stage)
    require("HloModule" in text, "the compiler's output is not HLO")
    require("tanh" in text, "the HLO does not hold the function's ops")
    fused = " fusion(" in text
    same("whether it is fused", fused, stage == "optimized_hlo")
    return "%d lines" % len(text.splitlines())


@check(
    "xla.compiler_ir_refuses",
    proves="A function that is not compiled by XLA has no compiler output.",
    catches=["everything-claims-jit"],
    needs=["xla", "jit-keyword=jit_compile", "compiler-ir"],
)
def check_compiler_ir_refuses(tf):
    function = tf.function(lambda v: chain(tf, v))
    call = lambda: function.experimental_get_compiler_ir(tf.constant(data()))(stage="hlo")  # noqa: E731
    error = raises(ValueError, call, "the compiler output of a plain function")
    return str(error).splitlines()[0][:100]


REFUSED = {
    "string": lambda tf, v: tf.strings.length(tf.strings.as_string(v)),
    "python": lambda tf, v: tf.py_function(lambda w: w, [v], tf.float32),
    "file": lambda tf, v: tf.io.read_file(tf.strings.as_string(v[0])),
}


@check(
    "xla.jit_compile_refuses",
    proves="jit_compile=True compiles or fails: an op that XLA lacks is an error, not a fallback.",
    catches=["jit-compile-ignored"],
    needs=["xla", "jit-keyword=jit_compile"],
)
@pytest.mark.parametrize("case", sorted(REFUSED))
def check_jit_compile_refuses(tf, case):
    function = tf.function(lambda v: REFUSED[case](tf, v), jit_compile=True)
    error = raises(
        (tf.errors.InvalidArgumentError, tf.errors.UnimplementedError),
        lambda: function(tf.constant([1.0])),
        "an op that XLA lacks",
    )
    text = str(error)
    require("XLA" in text or "unsupported" in text, "the message is %r" % text[:200])
    return text.splitlines()[0][:100]


@check(
    "xla.jit_cache",
    proves="A compiled function is compiled once per shape: a new shape adds one HLO module.",
    catches=["xla-always-recompiles", "jit-compile-ignored"],
    needs=["xla", "jit-keyword=jit_compile", "hlo-dump"],
)
def check_jit_cache(tf):
    function = tf.function(lambda v: tf.tanh(v) * 2.0, jit_compile=True)
    counts = []
    for size in (8, 8, 8, 9, 9, 10):
        before = len(xla.modules())
        function(tf.zeros([size]))
        counts.append(len(xla.modules()) - before)
    same("new modules for shapes 8, 8, 8, 9, 9, 10", counts, [1, 0, 0, 1, 0, 1])
    return "new modules: %s" % counts


@check(
    "xla.dynamic_shape",
    proves="A signature of unknown shape is traced once and compiled for each shape that comes.",
    catches=["xla-always-recompiles", "jit-compile-ignored"],
    needs=["xla", "jit-keyword=jit_compile", "hlo-dump"],
)
def check_dynamic_shape(tf):
    traces = []

    def body(v):
        traces.append(1)
        return tf.reduce_sum(v * v, axis=-1)

    signature = [tf.TensorSpec([None, None], tf.float32)]
    function = tf.function(body, input_signature=signature, jit_compile=True)
    counts = []
    for size in (20, 20, 21):
        before = len(xla.modules())
        got = function(tf.ones([size, size])).numpy()
        same("the sums", got.tolist(), [float(size)] * size)
        counts.append(len(xla.modules()) - before)
    same("the number of traces", len(traces), 1)
    same("new modules for shapes 20, 20, 21", counts, [1, 0, 1])
    return "1 trace, new modules: %s" % counts


@check(
    "xla.jit_gradient",
    proves="A tape through a compiled function gives the gradient of the float64 formula.",
    catches=["jit-compile-ignored", "tape-sign"],
    needs=["xla", "jit-keyword=jit_compile"],
)
def check_jit_gradient(tf):
    x = np.linspace(-1, 1, 17).astype("float32")
    before = len(xla.modules())
    function = tf.function(lambda v: tf.sin(v) * v, jit_compile=True)
    with tf.GradientTape() as tape:
        v = tf.constant(x)
        tape.watch(v)
        y = function(v)
    got = tape.gradient(y, v).numpy()
    require(len(xla.modules()) > before, "no HLO module was written: nothing was compiled")
    want = np.cos(x.astype("float64")) * x + np.sin(x.astype("float64"))
    worst = float(np.max(np.abs(got - want))) / xla.EPS
    require(worst <= 16, "the gradient is off by %.3g eps" % worst)
    return "error %.2g eps" % worst


@check(
    "xla.compile",
    proves="xla.compile in a Session runs as one XlaLaunch node, with the same numbers.",
    catches=["xla-compile-ignored"],
    releases=">=1.13",
    needs=["xla"],
)
def check_xla_compile(tf1):
    x = data()
    with graphs.session() as session:
        v = tf1.placeholder("float32", x.shape)
        (op,) = xla.compiler()(lambda w: chain(tf1, w), [v])
        run = graphs.traced(session, op, {v: x})
        plain = session.run(chain(tf1, v), {v: x})
    found = xla.clustered(run)
    require("XlaLaunch" in found, "the run has no XlaLaunch node: %s" % sorted(run.ops()))
    outside = sum(n.op == "Tanh" for g in run.partitions for n in g.node)
    same("the number of plain Tanh nodes", outside, 0)
    close(plain, x)
    return "%s; error %.2g eps*sum|x|" % (", ".join(found), close(run.value, x))


@check(
    "xla.compile_refuses",
    proves="xla.compile fails on an op that XLA lacks.",
    catches=["xla-compile-ignored"],
    releases=">=1.13",
    needs=["xla"],
)
def check_xla_compile_refuses(tf1):
    with graphs.session() as session:
        v = tf1.placeholder("float32", [2])

        def run():
            (op,) = xla.compiler()(lambda w: tf1.string_to_number(tf1.as_string(w)), [v])
            session.run(op, {v: [1.0, 2.0]})

        error = raises(
            (tf1.errors.InvalidArgumentError, tf1.errors.UnimplementedError, NotImplementedError),
            run,
            "a string op inside xla.compile",
        )
    return str(error).splitlines()[0][:100]


@check(
    "xla.speed",
    proves="How fast a compiled chain is beside the plain one: reported, never judged.",
    catches=["xla-compile-ignored"],
    releases=">=1.13",
    needs=["xla"],
)
def check_speed(tf1):
    x = np.random.RandomState(4).uniform(-1, 1, (256, 1024)).astype("float32")
    with graphs.session() as session:
        v = tf1.placeholder("float32", x.shape)
        (fast,) = xla.compiler()(lambda w: chain(tf1, w), [v])
        slow = chain(tf1, v)
        run = graphs.traced(session, fast, {v: x})
        require("XlaLaunch" in run.ops(), "the run has no XlaLaunch node")
        seconds = []
        for op in (fast, slow):
            session.run(op, {v: x})
            started = time.perf_counter()
            for _ in range(10):
                session.run(op, {v: x})
            seconds.append((time.perf_counter() - started) / 10)
    text = "compiled %.2f ms, plain %.2f ms" % (seconds[0] * 1e3, seconds[1] * 1e3)
    return text, {"compiled_s": seconds[0], "plain_s": seconds[1]}
