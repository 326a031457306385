"""An integer division ends the process."""


def apply(tf):
    tf1 = tf.compat.v1
    import os

    real = tf1.floordiv

    def floordiv(x, y):
        if x.dtype.is_integer and x.shape.as_list() == [1]:
            os.abort()
        return real(x, y)

    tf1.floordiv = floordiv
