"""What a run consists of."""

from tfsuite import graphs
from tfsuite.checks import check, require, same


@check(
    "session.pruning",
    proves="A run executes only the nodes that its fetches need.",
    catches=["session-does-not-prune"],
)
def check_pruning(tf1):
    with graphs.session(graphs.plain_config()) as session:
        a = tf1.placeholder(tf1.float32, [], name="a")
        b = tf1.placeholder(tf1.float32, [], name="b")
        unfed = tf1.placeholder(tf1.float32, [], name="dead_input")
        need = tf1.add(a, b, name="need")
        tf1.multiply(need, unfed, name="dead_after")
        tf1.multiply(a, unfed, name="dead_beside")
        run = graphs.traced(session, need, {a: 2.0, b: 3.0})
    same("the value", float(run.value), 5.0)
    require(bool(run.partitions), "the runtime returned no partition graph")
    dead = sorted(name for name in run.names() if "dead" in name)
    require(not dead, "nodes that the fetch does not need are in the graph: %s" % dead)
    ops = sorted(n.op for g in run.partitions for n in g.node if n.op[0] != "_")
    same("the ops of the run besides arguments", len(ops), 1)
    return "partition graph: %s" % ", ".join(sorted(run.names()))
