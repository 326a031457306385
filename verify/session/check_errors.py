"""What a session refuses, and with which class of error."""

import time

import pytest
from tfsuite import graphs
from tfsuite.checks import check, raises, require
from tfsuite.lazy import np


@check(
    "session.closed",
    proves="A closed session refuses to run.",
    catches=["closed-session-runs"],
)
def check_closed(tf1):
    with graphs.session() as session:
        one = tf1.constant(1.0)
        session.run(one)
        session.close()
        error = raises(RuntimeError, lambda: session.run(one), "run() of a closed session")
    require("closed Session" in str(error), "the message is %r" % str(error))
    return str(error)


# name -> (error class, how to provoke it); each gets the session, tf1 and a placeholder [2].
WRONG = {
    "shape": ("ValueError", lambda s, tf1, x, y: s.run(y, {x: [1.0, 2.0, 3.0]})),
    "dtype": ("ValueError", lambda s, tf1, x, y: s.run(y, {x: ["a", "b"]})),
    "missing-feed": ("InvalidArgumentError", lambda s, tf1, x, y: s.run(y)),
    "unknown-fetch": ("ValueError", lambda s, tf1, x, y: s.run("no_such_tensor:0")),
    "unknown-feed": ("TypeError", lambda s, tf1, x, y: s.run(y, {"no_such_tensor:0": 1.0})),
    "fetch-type": ("TypeError", lambda s, tf1, x, y: s.run(3.0)),
    "other-graph": ("ValueError", lambda s, tf1, x, y: s.run(_elsewhere(tf1))),
    "tensor-as-feed": ("TypeError", lambda s, tf1, x, y: s.run(y, {x: tf1.constant([1.0, 2.0])})),
}


def _elsewhere(tf1):
    with tf1.Graph().as_default():
        return tf1.constant(1.0)


@check(
    "session.wrong_input",
    proves="Wrong feeds and fetches end in the documented class of error.",
    catches=["errors-swallowed"],
)
@pytest.mark.parametrize("case", sorted(WRONG))
def check_wrong_input(tf1, case):
    name, provoke = WRONG[case]
    kind = (
        getattr(tf1.errors, name, None) or {"ValueError": ValueError, "TypeError": TypeError}[name]
    )
    with graphs.session() as session:
        x = tf1.placeholder("float32", [2], name="x")
        y = tf1.multiply(x, 2.0, name="y")
        error = raises(kind, lambda: provoke(session, tf1, x, y), case)
    return "%s: %s" % (type(error).__name__, str(error).splitlines()[0][:100])


OPS = {
    "gather-out-of-range": lambda tf1, x: tf1.gather([1.0, 2.0], x),
    "integer-division-by-zero": lambda tf1, x: tf1.floordiv(1, x - 9),
    "bad-reshape": lambda tf1, x: tf1.reshape(tf1.range(x), [2, 7]),
    "assertion": lambda tf1, x: tf1.Assert(x < 0, [x]),
    "decode-text": lambda tf1, x: tf1.string_to_number(tf1.as_string(x) + "?"),
}


@check(
    "session.op_errors",
    proves="An op that cannot do its work ends the run with InvalidArgumentError and its name.",
    catches=["errors-swallowed"],
)
@pytest.mark.parametrize("case", sorted(OPS))
def check_op_errors(tf1, case):
    with graphs.session() as session:
        x = tf1.placeholder("int32", [], name="x")
        with tf1.name_scope("culprit"):
            y = OPS[case](tf1, x)
        error = raises(tf1.errors.InvalidArgumentError, lambda: session.run(y, {x: 9}), case)
        require(error.op is not None, "the error does not name its op")
        require(error.op.name.startswith("culprit"), "the error names %s" % error.op.name)
        one = tf1.constant(1)
        require(session.run(one) == 1, "the session is of no use after the error")
    return "%s at %s" % (type(error).__name__, error.op.name)


@check(
    "session.timeout",
    proves="A run that waits longer than its limit ends with DeadlineExceededError.",
    catches=["timeout-ignored"],
    limit=90,
)
def check_timeout(tf1):
    with graphs.session() as session:
        queue = tf1.FIFOQueue(1, "float32")
        options = tf1.RunOptions(timeout_in_ms=300)
        take = queue.dequeue()
        started = time.time()
        raises(
            tf1.errors.DeadlineExceededError,
            lambda: session.run(take, options=options),
            "a run with timeout_in_ms=300 on an empty queue",
        )
        seconds = time.time() - started
    require(seconds < 20, "it took %.1f s to end" % seconds)
    return "ended after %.2f s" % seconds


@check(
    "session.bad_graph",
    proves="A GraphDef whose edge leads nowhere is refused.",
    catches=["errors-swallowed"],
)
def check_bad_graph(tf1):
    definition = tf1.GraphDef()
    node = definition.node.add()
    node.name, node.op = "y", "Neg"
    node.attr["T"].type = 1
    node.input.append("nowhere")
    with graphs.session():
        error = raises(ValueError, lambda: tf1.import_graph_def(definition), "a bad edge")
    return str(error).splitlines()[0][:100]


@check(
    "session.numbers_come_back",
    proves="Values of every kind go in and out of a session unchanged.",
    catches=["feed-ignored"],
)
@pytest.mark.parametrize(
    "dtype",
    "bool int8 uint8 int16 int32 int64 float16 float32 float64 complex64 complex128 string".split(),
)
def check_numbers_come_back(tf1, dtype):
    if dtype == "string":
        value = np.array([b"", b"\x00\xff", "ü".encode("utf-8")], dtype=object)
    elif dtype == "bool":
        value = np.array([True, False, True])
    else:
        value = np.array([0, 1, 100]).astype(dtype)
        if dtype.startswith(("float", "complex")):
            value = np.concatenate([value, np.array([np.nan, np.inf, -0.0], dtype)])
    with graphs.session() as session:
        x = tf1.placeholder(dtype, [None])
        got = session.run(tf1.identity(x), {x: value})
    if dtype == "string":
        require(list(got) == list(value), "got %r" % list(got))
    else:
        require(got.dtype == value.dtype, "dtype %s came back as %s" % (value.dtype, got.dtype))
        require(got.tobytes() == value.tobytes(), "got %r, sent %r" % (got, value))
    return "%d values" % len(value)
