"""How a session spreads over devices and threads."""

import os
import threading

from tfsuite import graphs
from tfsuite.checks import check, raises, require, same
from tfsuite.lazy import np


def two_cpus(tf1):
    config = graphs.plain_config()
    config.device_count["CPU"] = 2
    config.allow_soft_placement = False
    return config


@check(
    "session.device_count",
    proves="device_count in the configuration makes that many CPU devices.",
    catches=["config-ignored"],
)
def check_device_count(tf1):
    with graphs.session(two_cpus(tf1)) as session:
        names = [d.name for d in session.list_devices() if d.device_type == "CPU"]
    same("the number of CPU devices", len(names), 2)
    return ", ".join(names)


def split(tf1, session):
    """A product on one CPU device, and its square on the other."""
    with tf1.device("/cpu:0"):
        x = tf1.placeholder("float32", [4, 4], name="x")
        first = tf1.matmul(x, x, name="first")
    with tf1.device("/cpu:1"):
        second = tf1.matmul(first, first, name="second")
    value = np.arange(16, dtype="float32").reshape(4, 4) / 16
    run = graphs.traced(session, second, {x: value})
    want = np.linalg.matrix_power(value.astype("float64"), 4)
    require(np.allclose(run.value, want, rtol=1e-5, atol=0), "the value is wrong")
    return run


@check(
    "session.partition",
    proves="A graph on two devices is cut into two partitions, joined by a _Send and its _Recv.",
    catches=["config-ignored"],
)
def check_partition(tf1):
    with graphs.session(two_cpus(tf1)) as session:
        run = split(tf1, session)
    same("the number of partitions", len(run.partitions), 2)
    names = {}
    for kind in ("_Send", "_Recv"):
        nodes = [n for g in run.partitions for n in g.node if n.op in (kind, "_Host" + kind[1:])]
        names[kind] = sorted(n.attr["tensor_name"].s for n in nodes)
    require(bool(names["_Send"]), "nothing is sent between the partitions")
    same("what is received", names["_Recv"], names["_Send"])
    halves = [{n.name for n in g.node} & {"first", "second"} for g in run.partitions]
    same("the halves", sorted(map(sorted, halves)), [["first"], ["second"]])
    return "2 partitions, %d edge(s) between them" % len(names["_Send"])


@check(
    "session.executors",
    proves="Each device has its own executor, and its statistics name the nodes that it ran.",
    catches=["config-ignored"],
)
def check_executors(tf1):
    with graphs.session(two_cpus(tf1)) as session:
        run = split(tf1, session)
    where = {name: run.placed(name) for name in ("first", "second")}
    require(
        any(d.upper().endswith("CPU:0") for d in where["first"]), "first ran on %s" % where["first"]
    )
    require(
        any(d.upper().endswith("CPU:1") for d in where["second"]),
        "second ran on %s" % where["second"],
    )
    start = {n.node_name: n.all_start_micros for d in run.devices for n in d.node_stats}
    require(start["first"] <= start["second"], "the second node started before the first")
    return "first on CPU:0, then second on CPU:1"


@check(
    "session.soft_placement",
    proves="An op on a device that does not exist is an error, or moved when that is allowed.",
    catches=["config-ignored", "soft-placement-always"],
)
def check_soft_placement(tf1):
    def run(soft):
        with graphs.session(tf1.ConfigProto(allow_soft_placement=soft)) as session:
            with tf1.device("/device:GPU:77"):
                y = tf1.constant(1.0) + tf1.placeholder_with_default(2.0, [])
            return float(session.run(y))

    raises(tf1.errors.InvalidArgumentError, lambda: run(False), "an op on GPU:77")
    same("with soft placement", run(True), 3.0)
    return "refused without, moved with"


@check(
    "session.threads",
    proves="inter_op_parallelism_threads makes threads in the native library.",
    catches=["config-ignored"],
    platforms=["linux"],
)
def check_threads(tf1):
    def threads_of(count):
        config = tf1.ConfigProto(inter_op_parallelism_threads=count, use_per_session_threads=True)
        before = set(os.listdir("/proc/self/task"))  # some of an earlier session may be ending
        with graphs.session(config) as session:
            session.run(tf1.constant(1.0))
            return len(set(os.listdir("/proc/self/task")) - before)

    threads_of(1)  # the first session of a process makes threads that all of them share
    few, many = threads_of(3), threads_of(11)
    require(many >= few + 6, "3 threads asked: %d more, 11 asked: %d more" % (few, many))
    return "%d more for 3, %d more for 11" % (few, many)


@check(
    "session.concurrent_graphs",
    proves="Sessions of different graphs run at the same time in threads, each with its values.",
    catches=["feed-ignored"],
)
def check_concurrent_graphs(tf1):
    wrong = []

    def work(number):
        try:
            with graphs.session() as session:
                x = tf1.placeholder("float32", [32, 32])
                y = tf1.reduce_sum(tf1.matmul(x, x)) * number
                for step in range(20):
                    got = float(session.run(y, {x: np.eye(32, dtype="float32") * step}))
                    if got != 32.0 * step * step * number:
                        wrong.append((number, step, got))
        except Exception as error:  # told by the check, not by the thread
            wrong.append(repr(error))

    threads = [threading.Thread(target=work, args=(n,)) for n in range(1, 7)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    require(not wrong, "wrong results: %s" % wrong[:3])
    return "6 sessions, 120 runs"
