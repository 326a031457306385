"""The minimum cluster size, which this group sets to 6."""

from tfsuite import graphs, xla
from tfsuite.checks import check, require
from tfsuite.lazy import np


@check(
    "xla.min_cluster_size",
    proves="A graph smaller than tf_xla_min_cluster_size is left to the plain kernels.",
    catches=["auto-clustering-always"],
    needs=["xla"],
)
def check_min_cluster_size(tf1):
    with graphs.session(graphs.jit_config()) as session:
        v = tf1.placeholder("float32", [8])
        run = graphs.traced(session, tf1.tanh(tf1.tanh(v)), {v: np.ones(8, "float32")})
    found = xla.clustered(run)
    require(not found, "two ops were clustered: %s" % found)
    return "two ops stay plain"
