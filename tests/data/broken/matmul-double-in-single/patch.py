"""Products of doubles are computed in floats."""


def apply(tf):
    tf1 = tf.compat.v1
    real = tf1.matmul

    def matmul(a, b, **more):
        if a.dtype == tf.float64:
            return tf1.cast(real(tf1.cast(a, "float32"), tf1.cast(b, "float32"), **more), "float64")
        return real(a, b, **more)

    tf1.matmul = matmul
