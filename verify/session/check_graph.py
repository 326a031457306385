"""What a run consists of: the part of the graph that its fetches need, and no more."""

import typing

from tfsuite import graphs
from tfsuite.checks import check, require, same
from tfsuite.lazy import np


class Pair(typing.NamedTuple):
    first: object
    second: object


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
    same("the number of ops of the run besides arguments", len(ops), 1)
    return "partition graph: %s" % ", ".join(sorted(run.names()))


@check(
    "session.feed_cuts",
    proves="Feeding an inner tensor cuts off everything before it.",
    catches=["feed-ignored"],
)
def check_feed_cuts(tf1):
    with graphs.session(graphs.plain_config()) as session:
        a = tf1.placeholder(tf1.float32, [], name="a")
        inner = tf1.multiply(a, 10.0, name="inner")
        end = tf1.add(inner, 1.0, name="end")
        run = graphs.traced(session, end, {inner: 4.0})
        whole = session.run(end, {a: 4.0})
    same("the value with the inner tensor fed", float(run.value), 5.0)
    same("the value of the whole graph", float(whole), 41.0)
    left = sorted(n for n in run.names() if n in {"a", "inner"})
    require(not left, "nodes before the feed were run: %s" % left)
    return "partition graph: %s" % ", ".join(sorted(run.names()))


@check(
    "session.nested_fetches",
    proves="Fetches in dicts, lists and tuples come back in their structure, from one run.",
    catches=["fetches-swapped"],
)
def check_nested_fetches(tf1):
    with graphs.session() as session:
        x = tf1.placeholder(tf1.int32, [], name="x")
        wanted = {"one": x + 1, "many": [x + 2, (x + 3, x + 4)], "pair": Pair(x + 5, x + 6)}
        got = session.run(wanted, {x: 10})
    got = {
        "one": int(got["one"]),
        "many": [int(got["many"][0]), tuple(int(v) for v in got["many"][1])],
        "pair": Pair(int(got["pair"].first), int(got["pair"].second)),
    }
    same("the fetches", got, {"one": 11, "many": [12, (13, 14)], "pair": Pair(15, 16)})
    return "7 values in their structure"


@check(
    "session.target_only",
    proves="Fetching an operation runs it for its effect and returns None.",
    catches=["operations-not-run"],
)
def check_target_only(tf1):
    with graphs.session() as session:
        count = tf1.get_variable("count", [], tf1.int32, tf1.zeros_initializer())
        more = tf1.assign_add(count, 5).op
        session.run(tf1.global_variables_initializer())
        same("the value of a fetched operation", session.run(more), None)
        same("the variable", int(session.run(count)), 5)
    return "count is 5 after one run of an operation"


@check(
    "session.extension",
    proves="Nodes that are added after a run reach the running session.",
    catches=["graph-not-extended"],
)
def check_extension(tf1):
    with graphs.session() as session:
        first = tf1.constant(2.0, name="first")
        same("the value before", float(session.run(first)), 2.0)
        later = tf1.multiply(first, 21.0, name="later")
        run = graphs.traced(session, later)
        same("the value of the added node", float(run.value), 42.0)
    return "a node added after the first run gave 42"


@check(
    "session.graph_def",
    proves="A graph survives GraphDef and back, with this release's producer version.",
    catches=["wrong-producer"],
)
def check_graph_def(tf1, expect):
    with graphs.session() as session:
        x = tf1.placeholder(tf1.float32, [2, 2], name="x")
        tf1.matmul(x, x, name="y")
        definition = session.graph.as_graph_def()
    again = tf1.GraphDef()
    again.ParseFromString(definition.SerializeToString())
    with graphs.session() as session:
        (y,) = tf1.import_graph_def(again, return_elements=["y:0"], name="in")
        got = session.run(y, {"in/x:0": [[1.0, 2.0], [3.0, 4.0]]})
    same("the value", got.tolist(), [[7.0, 10.0], [15.0, 22.0]])
    wanted = expect.get("features", {}).get("graph-def-producer")
    producer = definition.versions.producer
    if wanted:
        same("the producer version", str(producer), wanted)
    require(producer >= 20, "the producer version is %d" % producer)
    return "producer %d" % producer


@check(
    "session.control_flow",
    proves="A while loop runs as Enter, Merge, Switch, NextIteration and Exit in the executor.",
    catches=["loop-stops-early"],
)
def check_control_flow(tf1):
    switch = getattr(tf1, "disable_control_flow_v2", None)
    on = getattr(tf1, "control_flow_v2_enabled", lambda: False)()
    if switch and on:
        switch()
    try:
        with graphs.session(graphs.plain_config()) as session:
            limit = tf1.placeholder(tf1.int32, [], name="limit")
            loop = tf1.while_loop(
                lambda i, total: i < limit, lambda i, total: (i + 1, total + i), (0, 0)
            )
            run = graphs.traced(session, loop[1], {limit: 10})
    finally:
        if switch and on:
            tf1.enable_control_flow_v2()
    same("0 + 1 + … + 9", int(run.value), 45)
    needed = {"Enter", "Exit", "LoopCond", "Merge", "NextIteration", "Switch"}
    missing = sorted(needed - run.ops())
    require(not missing, "the partition graph has no %s" % ", ".join(missing))
    return ", ".join(sorted(needed))


@check(
    "session.control_dependencies",
    proves="A control dependency orders two ops that share no tensor.",
    catches=["control-edges-dropped"],
)
def check_control_dependencies(tf1):
    with graphs.session(graphs.plain_config()) as session:
        count = tf1.get_variable("count", [], tf1.int32, tf1.zeros_initializer())
        with tf1.control_dependencies([tf1.assign(count, 7)]):
            after = tf1.identity(tf1.constant(1), name="after")
        session.run(tf1.global_variables_initializer())
        run = graphs.traced(session, after)
        same("the variable after the run", int(session.run(count)), 7)
    edges = [i for g in run.partitions for n in g.node for i in n.input if i.startswith("^")]
    require(bool(edges), "the partition graph has no control edge")
    return "control edges: %s" % ", ".join(sorted(set(edges)))


@check(
    "session.constant_folding",
    proves="The optimiser folds constants by default, and does not when it is switched off.",
    catches=["optimizer-off"],
)
def check_constant_folding(tf1):
    def multiplies(config):
        with graphs.session(config) as session:
            a = tf1.constant(np.ones((4, 4), "float32"))
            x = tf1.placeholder("float32", [4, 4])
            y = tf1.add(tf1.matmul(a, a), x)
            run = graphs.traced(session, y, {x: np.zeros((4, 4), "float32")})
        same("the value", float(run.value[0, 0]), 4.0)
        return any(op.endswith("MatMul") for op in run.ops())  # oneDNN's is _MklMatMul

    require(not multiplies(None), "the product of two constants was computed in the run")
    # 1.4.0 folds whatever the configuration says (observed); newer ones can be told not to.
    if hasattr(tf1.ConfigProto().graph_options.rewrite_options, "disable_meta_optimizer"):
        require(multiplies(graphs.plain_config()), "folded although optimisation was off")
    return "MatMul of constants folded by default"


@check(
    "session.cost_graph",
    proves="The runtime returns a cost model with a node per op that it ran.",
    catches=["optimizer-off"],
)
def check_cost_graph(tf1):
    config = graphs.plain_config()
    config.graph_options.build_cost_model = 1
    with graphs.session(config) as session:
        x = tf1.placeholder("float32", [8, 8], name="x")
        run = graphs.traced(session, tf1.matmul(x, x, name="y"), {x: np.eye(8, dtype="float32")})
    names = sorted(node.name for node in run.metadata.cost_graph.node)
    require("y" in names, "the cost graph has only %s" % names)
    return "cost graph: %s" % ", ".join(names)
