"""The same ops eagerly, in tf.function and in a Session."""

from tfsuite import graphs
from tfsuite.checks import check, require, same
from tfsuite.lazy import np


def model(tf1, x):
    y = tf1.nn.relu(tf1.matmul(x, x) - 1.0)
    return tf1.reduce_sum(y * y, axis=-1)


def data():
    return np.random.RandomState(11).uniform(-1, 1, (16, 16)).astype("float32")


@check(
    "session.eager_equals_session",
    proves="Eager execution, tf.function and a Session give the same bits.",
    catches=["function-rounds"],
    releases=">=2.0",
)
def check_eager_equals_session(tf, tf1):
    x = data()
    require(tf.executing_eagerly(), "eager execution is not on by default")
    eager = model(tf1, tf.constant(x)).numpy()
    function = tf.function(lambda v: model(tf1, v))(tf.constant(x)).numpy()
    with graphs.session() as session:
        v = tf1.placeholder("float32", x.shape)
        ran = session.run(model(tf1, v), {v: x})
    for name, got in (("tf.function", function), ("the Session", ran)):
        # Fused kernels may round once less: a few units in the last place, never more.
        worst = float(np.max(np.abs(got - eager) / np.spacing(np.abs(eager))))
        require(worst <= 4, "%s differs from eager by %.1f ULP" % (name, worst))
    return "16 values, within 4 ULP"


@check(
    "session.function_is_a_graph",
    proves="A tf.function is traced once per signature, and its graph holds the ops.",
    catches=["function-runs-eagerly"],
    releases=">=2.0",
)
def check_function_is_a_graph(tf):
    traces = []

    @tf.function
    def double(v):
        traces.append(1)
        return tf.tanh(v) * 2.0

    for size in (3, 3, 4, 3):
        double(tf.zeros([size]))
    same("the number of traces for 3, 3, 4, 3 elements", len(traces), 2)
    concrete = double.get_concrete_function(tf.zeros([3]))
    ops = {op.type for op in concrete.graph.get_operations()}
    require("Tanh" in ops, "the function's graph has %s" % sorted(ops))
    return "2 traces; the graph has %s" % ", ".join(sorted(ops))


@check(
    "session.function_in_session",
    proves="A tf.function inside a graph is called through the function library of the run.",
    catches=["function-runs-eagerly"],
    releases=">=1.15",
)
def check_function_in_session(tf, tf1):
    with graphs.session(graphs.plain_config()) as session:
        v = tf1.placeholder("float32", [3])
        y = tf.function(lambda x: tf1.tanh(x) * 2.0)(v)
        run = graphs.traced(session, y, {v: [0.0, 0.0, 0.0]})
        definition = session.graph.as_graph_def()
    calls = {n.op for n in definition.node} & {"PartitionedCall", "StatefulPartitionedCall"}
    require(bool(calls), "the graph calls no function")
    require(bool(definition.library.function), "the graph's function library is empty")
    same("the value", run.value.tolist(), [0.0, 0.0, 0.0])
    return "%s, %d function(s)" % (", ".join(sorted(calls)), len(definition.library.function))


@check(
    "session.gradient_of_graph",
    proves="Symbolic gradients of a graph equal the analytic ones, and the tape's.",
    catches=["gradient-sign"],
)
def check_gradient(tf1, tf):
    x = data()
    with graphs.session() as session:
        v = tf1.placeholder("float32", x.shape)
        loss = tf1.reduce_sum(tf1.sin(v) * v)
        got = session.run(tf1.gradients(loss, v)[0], {v: x})
    wide = x.astype("float64")
    want = np.cos(wide) * wide + np.sin(wide)
    worst = float(np.max(np.abs(got - want))) / 2.0**-24
    require(worst <= 16, "the gradient is off by %.3g eps" % worst)
    if hasattr(tf, "GradientTape") and getattr(tf, "executing_eagerly", lambda: False)():
        with tf.GradientTape() as tape:
            u = tf.constant(x)
            tape.watch(u)
            loss = tf.reduce_sum(tf.sin(u) * u)
        again = tape.gradient(loss, u).numpy()
        require(np.max(np.abs(again - want)) / 2.0**-24 <= 16, "the tape's gradient is off")
    return "error %.2g eps" % worst
