"""tf.train.Server: the master/worker runtime, with a second process."""

import os
import socket
import subprocess
import sys

from tfsuite import graphs
from tfsuite.checks import Wrong, check, raises, require, same
from tfsuite.lazy import np

WORKER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "worker.py")


def target(server):
    """The server's address; TensorFlow 1.4 gives bytes."""
    return server.target.decode() if isinstance(server.target, bytes) else server.target


@check(
    "session.server",
    proves="A session on a local server runs by the master and worker, not in DirectSession.",
    catches=["server-target-ignored"],
)
def check_server(tf1):
    cluster = tf1.train.ClusterSpec({"judge": ["localhost:%d" % free_ports(1)[0]]})
    server = tf1.train.Server(cluster, job_name="judge", task_index=0)
    require(target(server).startswith("grpc://"), "the target is %r" % target(server))
    with graphs.session(target=target(server)) as session:
        names = [d.name for d in session.list_devices()]
        x = tf1.placeholder("float32", [])
        same("the value", float(session.run(x * 3.0, {x: 2.0})), 6.0)
    require(any("/job:judge/" in name for name in names), "the devices are %s" % names)
    return ", ".join(names[:2])


@check(
    "session.containers",
    proves="Sessions of one server share variables by container; reset clears one and not another.",
    catches=["server-target-ignored"],
)
def check_containers(tf1):
    server = tf1.train.Server.create_local_server()
    address = target(server)
    with tf1.Graph().as_default() as graph:
        with tf1.container("first"):
            v = tf1.get_variable("v", initializer=1.0, use_resource=False)
        with tf1.container("second"):
            w = tf1.get_variable("w", initializer=2.0, use_resource=False)
        start = tf1.global_variables_initializer()
        one = tf1.Session(address, graph=graph)
        one.run(start)
        with tf1.Session(address, graph=graph) as other:
            same("what a second session sees", [float(x) for x in other.run([v, w])], [1.0, 2.0])
        tf1.Session.reset(address, ["first"])
        raises(tf1.errors.OpError, lambda: one.run(v), "the old session after reset")
        with tf1.Session(address, graph=graph) as later:
            raises(
                (tf1.errors.FailedPreconditionError, tf1.errors.NotFoundError),
                lambda: later.run(v),
                "the variable of the container that was reset",
            )
            same("the other container's variable", float(later.run(w)), 2.0)
    return "v is gone, w is 2"


def free_ports(count):
    """Ports that were free a moment ago; all are taken at once, so that they differ."""
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("localhost", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


@check(
    "session.two_processes",
    proves="A graph split over two processes runs in both, tensors go over the wire.",
    catches=["server-target-ignored"],
    limit=180,
)
def check_two_processes(tf1):
    hosts = ["localhost:%d" % port for port in free_ports(2)]
    worker = subprocess.Popen(
        [sys.executable, "-I", WORKER, hosts[0], hosts[1]],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    try:
        if worker.stdout.readline().strip() != b"ready":
            raise Wrong("the second process did not start its server")
        cluster = tf1.train.ClusterSpec({"worker": hosts})
        server = tf1.train.Server(cluster, job_name="worker", task_index=0)
        with graphs.session(graphs.plain_config(), target(server)) as session:
            with tf1.device("/job:worker/task:0"):
                x = tf1.placeholder("float32", [2, 2], name="x")
                first = tf1.matmul(x, x, name="first")
            with tf1.device("/job:worker/task:1"):
                second = tf1.matmul(first, first, name="second")
            with tf1.device("/job:worker/task:0"):
                end = tf1.identity(second, name="end")
            run = graphs.traced(session, end, {x: np.eye(2, dtype="float32") * 2})
            devices = [d.name for d in session.list_devices()]
    finally:
        worker.stdin.close()  # the worker ends when its input does
        worker.kill()
        worker.wait()
    same("the value", float(run.value[0, 0]), 16.0)
    require(any("task:1" in name for name in devices), "the devices are %s" % devices)
    require(
        any("task:1" in d for d in run.placed("second")),
        "the second product ran on %s" % run.placed("second"),
    )
    return "second product on %s" % run.placed("second")[0]
