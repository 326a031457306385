"""COMPILER_VERSION is empty."""


def apply(tf):
    tf.compat.v1.COMPILER_VERSION = ""
    if hasattr(tf, "version"):
        tf.version.COMPILER_VERSION = ""
