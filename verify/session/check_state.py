"""What lives in a session, and dies with it."""

import threading

from tfsuite import graphs
from tfsuite.checks import check, raises, require, same
from tfsuite.lazy import np


@check(
    "session.variables",
    proves="Two sessions of one graph have variables of their own.",
    catches=["variables-shared"],
)
def check_variables(tf1):
    with tf1.Graph().as_default() as graph:
        count = tf1.get_variable("count", [], tf1.int32, tf1.zeros_initializer())
        more = tf1.assign_add(count, 1)
        start = tf1.global_variables_initializer()
        with tf1.Session(graph=graph) as one, tf1.Session(graph=graph) as other:
            one.run(start)
            other.run(start)
            one.run(more)
            one.run(more)
            other.run(more)
            same("the first session's", int(one.run(count)), 2)
            same("the second session's", int(other.run(count)), 1)
        with tf1.Session(graph=graph) as fresh:
            raises(
                tf1.errors.FailedPreconditionError,
                lambda: fresh.run(count),
                "reading a variable in a new session",
            )
    return "2 and 1 in two sessions, uninitialised in a third"


@check(
    "session.queue",
    proves="A queue keeps order and content between runs, and its close() is felt.",
    catches=["queue-reversed"],
)
def check_queue(tf1):
    with graphs.session() as session:
        queue = tf1.FIFOQueue(10, "int32", shapes=[[]])
        x = tf1.placeholder("int32", [None])
        session.run(queue.enqueue_many([x]), {x: [3, 1, 2]})
        session.run(queue.enqueue([7]))
        take = queue.dequeue()
        got = [int(session.run(take)) for _ in range(4)]
        session.run(queue.close())
        raises(tf1.errors.OutOfRangeError, lambda: session.run(take), "a closed, empty queue")
    same("the order", got, [3, 1, 2, 7])
    return "first in, first out"


@check(
    "session.locking",
    proves="Eight threads of locked additions lose none.",
    catches=["updates-lost"],
)
def check_locking(tf1):
    with graphs.session() as session:
        count = tf1.get_variable("count", [], tf1.int64, tf1.zeros_initializer())
        more = tf1.assign_add(count, np.int64(1), use_locking=True)
        session.run(tf1.global_variables_initializer())
        errors = []

        def work():
            try:
                for _ in range(100):
                    session.run(more.op)
            except Exception as error:  # told by the check, not by the thread
                errors.append(error)

        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        require(not errors, "a thread failed: %r" % errors[:1])
        same("the count", int(session.run(count)), 800)
    return "800 of 800"


@check(
    "session.overlap",
    proves="A run that waits does not keep another run of the same session from going on.",
    catches=["runs-serialised"],
    limit=60,
)
def check_overlap(tf1):
    with graphs.session() as session:
        queue = tf1.FIFOQueue(1, "int32", shapes=[[]])
        take, give = queue.dequeue(), queue.enqueue([5])
        got = []
        thread = threading.Thread(target=lambda: got.append(int(session.run(take))))
        thread.daemon = True
        thread.start()
        session.run(give, options=tf1.RunOptions(timeout_in_ms=50000))
        thread.join(50)
        same("what the waiting run got", got, [5])
    return "the waiting run got what a later run gave"


@check(
    "session.partial_run",
    proves="partial_run stops at a fetch, takes further feeds, and ends when all is used.",
    catches=["feed-ignored"],
)
def check_partial_run(tf1):
    with graphs.session() as session:
        a = tf1.placeholder("float32", [], name="a")
        b = tf1.placeholder("float32", [], name="b")
        first = tf1.multiply(a, 2.0)
        second = tf1.multiply(first, b)
        handle = session.partial_run_setup([first, second], [a, b])
        got = float(session.partial_run(handle, first, {a: 1.0}))
        same("the first part", got, 2.0)
        same("the second part", float(session.partial_run(handle, second, {b: got * 10})), 40.0)
        raises(
            tf1.errors.InvalidArgumentError,
            lambda: session.partial_run(handle, first, {a: 1.0}),
            "a third part",
        )
    return "2, then 40, then refused"


@check(
    "session.callable",
    proves="make_callable gives a function that runs the graph with its feeds in order.",
    catches=["feed-ignored"],
)
def check_callable(tf1):
    with graphs.session() as session:
        a = tf1.placeholder("float32", [])
        b = tf1.placeholder("float32", [])
        call = session.make_callable(a - b, feed_list=[a, b])
        same("5 - 3", float(call(5.0, 3.0)), 2.0)
        same("3 - 5", float(call(3.0, 5.0)), -2.0)
    return "5 - 3 and 3 - 5 in their order"


@check(
    "session.callable_options",
    proves="CallableOptions reach the native session: feeds and fetches by tensor name.",
    catches=["callable-ignores-options"],
    needs=["session-callable-options"],
)
def check_callable_options(tf1):
    from tensorflow.core.protobuf import config_pb2

    with graphs.session() as session:
        tf1.placeholder("float32", [], name="a")
        tf1.multiply(session.graph.get_tensor_by_name("a:0"), 3.0, name="b")
        options = config_pb2.CallableOptions(feed=["a:0"], fetch=["b:0"])
        call = session._make_callable_from_options(options)
        same("3 times 4", float(call(np.float32(4.0))[0]), 12.0)
    return "12"


@check(
    "session.variables_saved",
    proves="A Saver writes a session's variables and another session reads them.",
    catches=["variables-shared", "saver-writes-zeros"],
)
def check_saver(tf1, scratch):
    value = np.arange(12, dtype="float32").reshape(3, 4)
    with graphs.session() as session:
        weights = tf1.get_variable("weights", initializer=value)
        session.run(tf1.global_variables_initializer())
        session.run(weights.assign(value * 2))
        path = tf1.train.Saver().save(session, scratch + "/model")
    with graphs.session() as session:
        weights = tf1.get_variable("weights", [3, 4], tf1.float32)
        tf1.train.Saver().restore(session, path)
        got = session.run(weights)
    same("the restored variable", got.tolist(), (value * 2).tolist())
    return "12 values through a checkpoint"
