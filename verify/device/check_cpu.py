"""The CPU is a device, and ops are placed on it."""

from tfsuite import graphs
from tfsuite.checks import check, require, same
from tfsuite.lazy import np


@check(
    "device.cpu",
    proves="The runtime lists a CPU device, and a placed op really runs on it.",
    catches=["no-cpu-device"],
)
def check_cpu(tf1):
    with graphs.session() as session:
        names = [d.name for d in session.list_devices() if d.device_type == "CPU"]
        require(bool(names), "no CPU among the devices of a session")
        with tf1.device("/cpu:0"):
            a = tf1.placeholder(tf1.float32, [2, 2], name="a")
            product = tf1.matmul(a, a, name="product")
        run = graphs.traced(session, product, {a: [[1.0, 2.0], [3.0, 4.0]]})
    same("the product", run.value.tolist(), [[7.0, 10.0], [15.0, 22.0]])
    where = run.placed("product")
    require(bool(where), "the step statistics do not hold the op")
    # TensorFlow 1.15 also reports the host's own time line, as /host:CPU.
    require(any(name.upper().endswith("CPU:0") for name in where), "the op ran on %s" % where)
    return "%s ran the op" % where[-1]


@check(
    "device.cpu_memory",
    proves="Memory of a run comes from the CPU's allocator and is accounted for.",
    catches=["no-cpu-device"],
)
def check_cpu_memory(tf1):
    with graphs.session(graphs.plain_config()) as session:
        x = tf1.placeholder("float32", [64, 64], name="x")
        value = np.ones((64, 64), "float32")
        run = graphs.traced(session, tf1.matmul(x, x, name="y"), {x: value})
    used = {
        (m.allocator_name, m.total_bytes)
        for d in run.devices
        for n in d.node_stats
        if n.node_name == "y"
        for m in n.memory
    }
    require(bool(used), "no memory was recorded for the op")
    require(any("cpu" in name.lower() or "mkl" in name.lower() for name, _ in used), "%s" % used)
    return ", ".join("%s: %d bytes" % item for item in sorted(used))


@check(
    "device.physical_cpu",
    proves="tf.config lists exactly one physical CPU device.",
    catches=["no-cpu-device"],
    releases=">=2.1",
)
def check_physical_cpu(tf):
    names = [d.name for d in tf.config.list_physical_devices("CPU")]
    same("the physical CPU devices", names, ["/physical_device:CPU:0"])
    return names[0]


@check(
    "device.eager_placement",
    proves="An eager tensor says where it lives, and that is where it was put.",
    catches=["eager-device-unknown"],
    releases=">=2.0",
)
def check_eager_placement(tf):
    with tf.device("/CPU:0"):
        found = (tf.ones([2, 2]) + 1.0).device
    require(found.endswith("/device:CPU:0"), "the tensor is on %s" % found)
    return found
