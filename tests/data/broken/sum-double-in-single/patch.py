"""Sums of doubles are computed in floats."""


def apply(tf):
    tf1 = tf.compat.v1
    real = tf1.reduce_sum

    def reduce_sum(x, axis=None):
        if x.dtype == tf.float64:
            return tf1.cast(real(tf1.cast(x, "float32"), axis=axis), "float64")
        return real(x, axis=axis)

    tf1.reduce_sum = reduce_sum
