"""jit_scope: clusters that a graph asks for, without any flag."""

from tfsuite import graphs, xla
from tfsuite.checks import check, require
from tfsuite.lazy import np


def jit_scope(tf1, on=True):
    if hasattr(tf1, "xla"):
        return tf1.xla.experimental.jit_scope(compile_ops=on)
    from tensorflow.contrib.compiler import jit

    return jit.experimental_jit_scope(compile_ops=on)


def run_chain(tf1, scope):
    x = np.random.RandomState(5).uniform(-1, 1, (64,)).astype("float32")
    with graphs.session() as session:
        v = tf1.placeholder("float32", x.shape)
        if scope is None:
            op = tf1.tanh(tf1.tanh(v * 2.0 + 1.0) * v)
        else:
            with jit_scope(tf1, scope):
                op = tf1.tanh(tf1.tanh(v * 2.0 + 1.0) * v)
        run = graphs.traced(session, op, {v: x})
    want = np.tanh(np.tanh(x.astype("float64") * 2.0 + 1.0) * x)
    worst = float(np.max(np.abs(run.value - want))) / xla.EPS
    require(worst <= 16, "differs from float64 by %.3g eps" % worst)
    return run, worst


@check(
    "xla.jit_scope",
    proves="Ops inside jit_scope run in an XLA cluster; the same ops outside do not.",
    catches=["jit-scope-ignored"],
    needs=["xla"],
)
def check_jit_scope(tf1):
    outside, _ = run_chain(tf1, None)
    require(not xla.clustered(outside), "ops outside jit_scope were clustered")
    inside, worst = run_chain(tf1, True)
    found = xla.clustered(inside)
    require(bool(found), "no XLA cluster, the ops are %s" % ", ".join(sorted(inside.ops())))
    return "%s inside, none outside; error %.2g eps" % (", ".join(found), worst)


@check(
    "xla.jit_scope_off",
    proves="jit_scope(compile_ops=False) keeps its ops out of any cluster.",
    catches=["jit-scope-always"],
    needs=["xla"],
)
def check_jit_scope_off(tf1):
    run, _ = run_chain(tf1, False)
    require(not xla.clustered(run), "clustered: %s" % xla.clustered(run))
    return "no XLA node"
