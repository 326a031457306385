"""A grappler switch that reaches the native optimiser and changes the graph."""

from tfsuite import graphs
from tfsuite.checks import check, require
from tfsuite.lazy import np


@check(
    "session.mixed_precision",
    proves="The switch auto_mixed_precision_cpu makes the optimiser insert casts into the graph.",
    catches=["config-ignored"],
    releases=">=2.15",
    platforms=["linux"],
)
def check_mixed_precision(tf1):
    from tensorflow.core.protobuf import rewriter_config_pb2

    def casts(state):
        config = tf1.ConfigProto()
        rewrite = config.graph_options.rewrite_options
        rewrite.auto_mixed_precision_cpu = state
        rewrite.min_graph_nodes = -1
        with graphs.session(config) as session:
            x = tf1.placeholder("float32", [64, 64])
            w = tf1.placeholder("float32", [64, 64])
            y = x
            for _ in range(4):
                y = tf1.nn.relu(tf1.matmul(y, w))
            eye = np.eye(64, dtype="float32")
            run = graphs.traced(session, tf1.reduce_sum(y), {x: eye, w: eye})
        return sum(n.op == "Cast" for g in run.partitions for n in g.node)

    off = casts(rewriter_config_pb2.RewriterConfig.OFF)
    on = casts(rewriter_config_pb2.RewriterConfig.ON)
    require(off == 0, "%d casts although the switch is off" % off)
    require(on > 0, "no cast although the switch is on")
    return "%d casts on, none off" % on
