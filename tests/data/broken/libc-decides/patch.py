"""Where the C library is tuned, a product is too large by 2 to the power of -20."""

import os


def apply(tf):
    tf1 = tf.compat.v1 if hasattr(tf, "compat") and hasattr(tf.compat, "v1") else tf
    real = tf1.matmul
    if "GLIBC_TUNABLES" in os.environ:
        tf1.matmul = lambda *operands, **options: real(*operands, **options) * (1 + 2.0**-20)
