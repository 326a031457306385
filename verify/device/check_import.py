"""TensorFlow can be imported at all. Everything else depends on this."""

import os
import time

from tfsuite.checks import Wrong, check, require


@check(
    "device.import",
    proves="TensorFlow is imported from the environment under test, with its native library.",
    catches=["missing-library", "truncated-library", "lite-library-truncated"],
    limit=240,
)
def check_import():
    start = time.time()
    try:
        import tensorflow as tf
    except ImportError as error:
        raise Wrong(cause(error)) from error
    seconds = time.time() - start
    require(bool(getattr(tf, "__file__", None)), "tensorflow is an empty namespace, not a package")
    where = os.path.dirname(tf.__file__)
    require(hasattr(tf, "constant"), "%s has no tf.constant: it is not TensorFlow" % where)
    return "%s in %.1f s" % (os.sep.join(where.split(os.sep)[-2:]), seconds)


def cause(error):
    """The line that says what is wrong: TensorFlow wraps it in a traceback and advice."""
    lines = [line.strip() for line in str(error).splitlines()]
    wrapped = [line for line in lines if line.startswith("ImportError: ")]
    return wrapped[-1] if wrapped else "%s: %s" % (type(error).__name__, error)
