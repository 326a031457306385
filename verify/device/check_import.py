"""TensorFlow can be imported at all. Everything else depends on this."""

import os
import time

from tfsuite.checks import check, require


@check(
    "device.import",
    proves="TensorFlow is imported from the environment under test, with its native library.",
    catches=["missing-library"],
    limit=240,
)
def check_import():
    start = time.time()
    import tensorflow as tf

    seconds = time.time() - start
    require(bool(getattr(tf, "__file__", None)), "tensorflow is an empty namespace, not a package")
    where = os.path.dirname(tf.__file__)
    require(hasattr(tf, "constant"), "%s has no tf.constant: it is not TensorFlow" % where)
    return "%s in %.1f s" % (os.sep.join(where.split(os.sep)[-2:]), seconds)
