"""jit_scope: clusters that a graph asks for, without any flag."""

from tfsuite import graphs, xla
from tfsuite.checks import check, require
from tfsuite.lazy import np


def jit_scope(tf1):
    if hasattr(tf1, "xla"):
        return tf1.xla.experimental.jit_scope()
    return tf1.contrib.compiler.jit.experimental_jit_scope()


def run_chain(tf1, scoped):
    x = np.random.RandomState(5).uniform(-1, 1, (64,)).astype("float32")
    with graphs.session() as session:
        v = tf1.placeholder("float32", x.shape)
        if scoped:
            with jit_scope(tf1):
                op = tf1.tanh(tf1.tanh(v * 2.0 + 1.0) * v)
        else:
            op = tf1.tanh(tf1.tanh(v * 2.0 + 1.0) * v)
        run = graphs.traced(session, op, {v: x})
    want = np.tanh(np.tanh(x.astype("float64") * 2.0 + 1.0) * x)
    worst = float(np.max(np.abs(run.value - want))) / 2.0**-24
    require(worst <= 16, "differs from float64 by %.3g eps" % worst)
    return run, worst


@check(
    "xla.jit_scope",
    proves="Ops inside jit_scope run in an XLA cluster; the same ops outside do not.",
    catches=["jit-scope-ignored"],
    needs=["xla"],
)
def check_jit_scope(tf1):
    outside, _ = run_chain(tf1, scoped=False)
    require(not xla.clustered(outside), "ops outside jit_scope were clustered")
    inside, worst = run_chain(tf1, scoped=True)
    found = xla.clustered(inside)
    require(bool(found), "no XLA cluster, the ops are %s" % ", ".join(sorted(inside.ops())))
    return "%s inside, none outside; error %.2g eps" % (", ".join(found), worst)
