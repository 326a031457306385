"""tf.device() does nothing."""

import contextlib


def apply(tf):
    @contextlib.contextmanager
    def nothing(name):
        yield

    tf.device = nothing
