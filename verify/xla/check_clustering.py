"""Auto-clustering: TF_XLA_FLAGS and global_jit_level, in a Session."""

import os

from tfsuite import graphs, xla
from tfsuite.checks import check, require
from tfsuite.lazy import np


def chain(tf1, x):
    return tf1.tanh(tf1.tanh(x * 2.0 + 1.0) * x)


def reference(x):
    x = x.astype("float64")
    return np.tanh(np.tanh(x * 2.0 + 1.0) * x)


def data(size=64):
    return np.random.RandomState(5).uniform(-1, 1, (size,)).astype("float32")


def picture(run):
    """The nodes of a run with their inputs, for a drawing."""
    return [
        {"name": n.name, "op": n.op, "inputs": [i.lstrip("^").split(":")[0] for i in n.input]}
        for g in run.partitions
        for n in g.node
    ]


@check(
    "xla.auto_clustering",
    proves="With auto-clustering on, a Session's ops run inside an XLA cluster, same numbers.",
    catches=["auto-clustering-off"],
    needs=["xla"],
)
def check_auto_clustering(tf1):
    x = data()
    with graphs.session(graphs.jit_config()) as session:
        v = tf1.placeholder("float32", x.shape, name="v")
        y = chain(tf1, v)
        run = graphs.traced(session, y, {v: x})
        before = [
            {"name": n.name, "op": n.op, "inputs": list(n.input)}
            for n in session.graph.as_graph_def().node
        ]
    found = xla.clustered(run)
    require(
        "_XlaRun" in found,
        "no XLA cluster in the run, its ops are %s" % ", ".join(sorted(run.ops())),
    )
    worst = float(np.max(np.abs(run.value - reference(x)))) / xla.EPS
    require(worst <= 16, "differs from float64 by %.3g eps" % worst)
    text = "%s; error %.2g eps" % (", ".join(found), worst)
    return text, {"before": before, "after": picture(run)}


@check(
    "xla.auto_compile_once",
    proves="An auto-clustered graph is compiled for a new shape when that comes again, and once.",
    catches=["auto-clustering-off", "xla-always-recompiles"],
    needs=["xla", "hlo-dump"],
)
def check_auto_compile_once(tf1):
    sizes = (16, 16, 17, 17, 17, 16)
    counts = []
    with graphs.session(graphs.jit_config()) as session:
        v = tf1.placeholder("float32", [None])
        y = chain(tf1, v)
        for size in sizes:
            before = len(xla.modules())
            session.run(y, {v: data(size)})
            counts.append(len(xla.modules()) - before)
    text = "new modules for %s: %s" % (list(sizes), counts)
    require(counts[0] >= 1, "nothing was compiled: " + text)
    # The first shape is compiled at once, another one when it is seen for the second time.
    require(sum(counts[2:4]) >= 1, "a new shape was not compiled: " + text)
    require(counts[1] == counts[4] == counts[5] == 0, "a known shape was compiled: " + text)
    return text


@check(
    "xla.not_clustered",
    proves="An op that XLA lacks stays outside the cluster, and the ops around it are clustered.",
    catches=["auto-clustering-off"],
    needs=["xla"],
)
def check_not_clustered(tf1):
    with graphs.session(graphs.jit_config()) as session:
        v = tf1.placeholder("float32", [8])
        middle = tf1.string_to_number(tf1.as_string(chain(tf1, v)))
        run = graphs.traced(session, chain(tf1, middle), {v: data(8)})
    nodes = {n.op for g in run.partitions for n in g.node}
    require("_XlaRun" in nodes, "nothing is clustered")
    require("AsString" in nodes, "the string op is not in the run's graph")
    return "AsString beside %s" % ", ".join(xla.clustered(run))


@check(
    "xla.cluster_gradient",
    proves="A gradient's graph is clustered too, with the same numbers.",
    catches=["auto-clustering-off", "gradient-sign"],
    needs=["xla"],
)
def check_cluster_gradient(tf1):
    x = data()
    with graphs.session(graphs.jit_config()) as session:
        v = tf1.placeholder("float32", x.shape)
        loss = tf1.reduce_sum(tf1.sin(v) * v)
        run = graphs.traced(session, tf1.gradients(loss, v)[0], {v: x})
    wide = x.astype("float64")
    want = np.cos(wide) * wide + np.sin(wide)
    worst = float(np.max(np.abs(run.value - want))) / xla.EPS
    require("_XlaRun" in xla.clustered(run), "no XLA cluster in the run")
    require(worst <= 16, "the gradient is off by %.3g eps" % worst)
    return "error %.2g eps" % worst


def dumped(kind):
    """The graphs that a pass of the clusterer wrote."""
    folder = os.environ["TF_DUMP_GRAPH_PREFIX"]
    names = os.listdir(folder) if os.path.isdir(folder) else []
    return sorted(n for n in names if n.startswith(kind) and n.endswith(".pbtxt"))


def _dump_check(tf1, kind, needle):
    with graphs.session(graphs.jit_config()) as session:
        v = tf1.placeholder("float32", [8])
        session.run(chain(tf1, v), {v: data(8)})
    names = dumped(kind)
    require(bool(names), "the pass wrote no %s*.pbtxt" % kind)
    texts = []
    for name in names:
        with open(os.path.join(os.environ["TF_DUMP_GRAPH_PREFIX"], name), "rb") as stream:
            texts.append(stream.read())
    require(any(needle in text for text in texts), "no dump of %s holds %r" % (kind, needle))
    return "%d dump(s) of %s" % (len(names), kind)


@check(
    "xla.pass_mark",
    proves="The pass that marks ops for compilation ran, and put its cluster's name on them.",
    catches=["auto-clustering-off"],
    releases=">=1.15",
    needs=["xla"],
)
def check_pass_mark(tf1):
    return _dump_check(tf1, "mark_for_compilation", b"_XlaCluster")


@check(
    "xla.pass_before",
    proves="The graph before the marking pass has no cluster attribute: the pass made it.",
    catches=["auto-clustering-off"],
    releases=">=1.15",
    needs=["xla"],
)
def check_pass_before(tf1):
    with graphs.session(graphs.jit_config()) as session:
        v = tf1.placeholder("float32", [8])
        session.run(chain(tf1, v), {v: data(8)})
    names = dumped("before_mark_for_compilation")
    require(bool(names), "the pass wrote no graph before its work")
    for name in names:
        with open(os.path.join(os.environ["TF_DUMP_GRAPH_PREFIX"], name), "rb") as stream:
            require(b"_XlaCluster" not in stream.read(), "%s is clustered already" % name)
    return "%d dump(s)" % len(names)


@check(
    "xla.pass_encapsulate",
    proves="The cluster became a function, and the graph calls it by _XlaCompile and _XlaRun.",
    catches=["auto-clustering-off"],
    needs=["xla"],
)
def check_pass_encapsulate(tf1):
    with graphs.session(graphs.jit_config()) as session:
        v = tf1.placeholder("float32", [8])
        run = graphs.traced(session, chain(tf1, v), {v: data(8)})
    calls = [n for g in run.partitions for n in g.node if n.op == "_XlaCompile"]
    require(bool(calls), "no _XlaCompile node")
    name = calls[0].attr["function"].func.name
    require("cluster" in name, "the compiled function is called %r" % name)
    return "%s compiles %s" % (calls[0].name, name)
