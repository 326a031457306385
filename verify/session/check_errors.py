"""What a session refuses."""

from tfsuite import graphs
from tfsuite.checks import check, raises, require


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
