"""The CPU is a device, and ops are placed on it."""

from tfsuite import graphs
from tfsuite.checks import check, require, same


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
