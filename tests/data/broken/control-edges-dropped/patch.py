"""control_dependencies() does nothing."""

import contextlib


def apply(tf):
    @contextlib.contextmanager
    def nothing(inputs):
        yield

    tf.compat.v1.control_dependencies = nothing
