"""The switches of auto-clustering never reach the native library."""

import os

os.environ.pop("TF_XLA_FLAGS", None)


def apply(tf):
    pass
