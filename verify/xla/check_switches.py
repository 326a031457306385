"""Red controls for auto-clustering: the same graph where the switches say no."""

from tfsuite import graphs, xla
from tfsuite.checks import check, require
from tfsuite.lazy import np


def chain(tf1, x, length):
    for _ in range(length):
        x = tf1.tanh(x)
    return x


def run(tf1, length=4):
    with graphs.session(graphs.jit_config()) as session:
        v = tf1.placeholder("float32", [8])
        return graphs.traced(session, chain(tf1, v, length), {v: np.ones(8, "float32")})


@check(
    "xla.off_without_flag",
    proves="On the CPU global_jit_level alone clusters nothing: TF_XLA_FLAGS decides.",
    catches=["auto-clustering-always"],
    needs=["xla"],
)
def check_off_without_flag(tf1):
    found = xla.clustered(run(tf1))
    require(not found, "clustered without --tf_xla_cpu_global_jit: %s" % found)
    return "no XLA node"
