"""Auto-clustering: TF_XLA_FLAGS and global_jit_level, in a Session."""

from tfsuite import graphs, xla
from tfsuite.checks import check, require
from tfsuite.lazy import np


def chain(tf1, x):
    return tf1.tanh(tf1.tanh(x * 2.0 + 1.0) * x)


def reference(x):
    x = x.astype("float64")
    return np.tanh(np.tanh(x * 2.0 + 1.0) * x)


@check(
    "xla.auto_clustering",
    proves="With auto-clustering on, a Session's ops run inside an XLA cluster, same numbers.",
    catches=["auto-clustering-off"],
    needs=["xla"],
)
def check_auto_clustering(tf1):
    x = np.random.RandomState(5).uniform(-1, 1, (64,)).astype("float32")
    with graphs.session(graphs.jit_config()) as session:
        v = tf1.placeholder("float32", x.shape)
        run = graphs.traced(session, chain(tf1, v), {v: x})
    found = xla.clustered(run)
    require(
        "_XlaRun" in found,
        "no XLA cluster in the run, its ops are %s" % ", ".join(sorted(run.ops())),
    )
    worst = float(np.max(np.abs(run.value - reference(x)))) / 2.0**-24
    require(worst <= 16, "differs from float64 by %.3g eps" % worst)
    return "%s; error %.2g eps" % (", ".join(found), worst)
