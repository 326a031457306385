"""Whole functions compiled by xla.compile: models, dtypes, control flow, gradients."""

import pytest
from tfsuite import graphs, xla, xla_models
from tfsuite.checks import check, require, same
from tfsuite.lazy import np


@check(
    "xla.model",
    proves="A small model runs as one XlaLaunch node and is as near to float64 as plain kernels.",
    catches=["xla-compile-ignored", "xla-rounds"],
    releases=">=1.13",
    needs=["xla"],
)
@pytest.mark.parametrize("name", xla_models.NAMES)
def check_model(name):
    function, arguments = xla_models.MODELS[name]
    return xla.compare(xla.compile_both(function, arguments()))


@check(
    "xla.dtype",
    proves="XLA computes in the dtype that was asked for, and gives the exact small results.",
    catches=["xla-compile-ignored", "xla-rounds"],
    releases=">=1.13",
    needs=["xla"],
)
@pytest.mark.parametrize("dtype", "float16 float32 float64 int32 int64 complex64".split())
def check_dtype(dtype):
    # Small whole numbers: exact in every dtype, whatever the order of the additions.
    values = np.arange(1, 13).reshape(3, 4).astype(dtype)

    def function(tf1, x):
        return tf1.reduce_sum(x * x + x, axis=0)

    found = xla.compile_both(function, [values], wide=False)
    want = np.sum(values * values + values, axis=0)
    same("the dtype", found.got.dtype.name, dtype)
    same("the values", found.got.tolist(), want.tolist())
    return "%s: %s" % (dtype, found.got.tolist())


@check(
    "xla.loop",
    proves="A while loop is compiled into the cluster, with the same result.",
    catches=["xla-compile-ignored", "loop-stops-early"],
    releases=">=1.13",
    needs=["xla"],
)
def check_loop():
    def function(tf1, x):
        return tf1.while_loop(
            lambda i, v: i < 5, lambda i, v: (i + 1, v * 1.5 - 0.25), (tf1.constant(0), x)
        )[1]

    values = np.linspace(-1, 1, 16).astype("float32")
    found = xla.compile_both(function, [values])
    want = values.astype("float64")
    for _ in range(5):
        want = want * 1.5 - 0.25
    require(np.max(np.abs(found.got - want)) <= 16 * xla.EPS * 8, "the loop's result is wrong")
    return xla.compare(found)


@check(
    "xla.branch",
    proves="A conditional is compiled into the cluster, and takes the right branch.",
    catches=["xla-compile-ignored"],
    releases=">=1.13",
    needs=["xla"],
)
@pytest.mark.parametrize("way", ["true", "false"])
def check_branch(way):
    def function(tf1, x, flag):
        return tf1.cond(flag > 0, lambda: x * 2.0, lambda: x - 1.0)

    values = np.arange(4, dtype="float32")
    flag = np.array(1 if way == "true" else 0, "int32")
    found = xla.compile_both(function, [values, flag], wide=False)
    want = values * 2 if way == "true" else values - 1
    same("the branch's result", found.got.tolist(), want.tolist())
    return "%s: %s" % (way, found.got.tolist())


@check(
    "xla.gradient",
    proves="Gradients are compiled with the function, and are as near to float64 as plain ones.",
    catches=["gradient-sign", "xla-compile-ignored"],
    releases=">=1.13",
    needs=["xla"],
)
def check_gradient():
    def function(tf1, x, w):
        loss = tf1.reduce_sum(tf1.tanh(tf1.matmul(x, w)))
        return tf1.gradients(loss, w)[0]

    random = np.random.RandomState(2)
    x = random.uniform(-1, 1, (8, 6)).astype("float32")
    w = random.uniform(-1, 1, (6, 5)).astype("float32")
    found = xla.compile_both(function, [x, w])
    wide = x.astype("float64")
    want = np.dot(wide.T, 1 - np.tanh(np.dot(wide, w.astype("float64"))) ** 2)
    require(np.max(np.abs(found.wide - want)) <= 1e-12, "the gradient itself is wrong")
    return xla.compare(found)


@check(
    "xla.variable",
    proves="A variable is updated by its own assignment beside a compiled function.",
    catches=["xla-compile-ignored", "operations-not-run"],
    releases=">=1.13",
    needs=["xla"],
)
def check_variable(tf1):
    with graphs.session() as session:
        weights = tf1.get_variable("w", initializer=np.ones(4, "float32"), use_resource=True)
        (step,) = xla.compiler()(lambda w: w * 0.5, [weights.read_value()])
        update = weights.assign(step)
        session.run(tf1.global_variables_initializer())
        run = graphs.traced(session, update.op if hasattr(update, "op") else update)
        require("XlaLaunch" in run.ops(), "the run has no XlaLaunch node")
        same("the variable", session.run(weights).tolist(), [0.5] * 4)
    return "halved by a compiled step"


@check(
    "xla.session_cache",
    proves="A session compiles a cluster once per shape: a new shape adds one HLO module.",
    catches=["xla-always-recompiles", "xla-compile-ignored"],
    releases=">=1.13",
    needs=["xla", "hlo-dump"],
)
def check_session_cache(tf1):
    counts = []
    with graphs.session() as session:
        x = tf1.placeholder("float32", [None])
        (y,) = xla.compiler()(lambda v: tf1.tanh(v * 2.0) + v, [x])
        for size in (8, 8, 8, 9, 9, 10, 8):
            before = len(xla.modules())
            session.run(y, {x: np.zeros(size, "float32")})
            counts.append(len(xla.modules()) - before)
    same("new modules for shapes 8, 8, 8, 9, 9, 10, 8", counts, [1, 0, 0, 1, 0, 1, 0])
    return "new modules: %s" % counts


@check(
    "xla.optimised",
    proves="XLA fuses: the module after optimisation has a fusion, the one before has none.",
    catches=["xla-compile-ignored"],
    releases=">=1.13",
    needs=["xla", "hlo-dump"],
)
def check_optimised(tf1):
    def function(tf1, x):
        return tf1.tanh(x * 2.0 + 1.0) * tf1.exp(-x) + tf1.sin(x)

    before, after = set(xla.modules()), set(xla.modules(stage="after_optimizations"))
    xla.compile_both(function, [np.linspace(-1, 1, 33).astype("float32")], wide=False)
    first = sorted(set(xla.modules()) - before)
    last = sorted(set(xla.modules(stage="after_optimizations")) - after)
    require(len(first) == 1 and len(last) == 1, "%d and %d modules" % (len(first), len(last)))
    text, optimised = xla.read(first[0]), xla.read(last[0])
    require("tanh" in text, "the module before optimisation has no tanh")
    require(" fusion(" not in text, "the module is fused before optimisation")
    require(" fusion(" in optimised, "the module is not fused after optimisation")
    return "%s: fused" % first[0]
