"""A conversion to whole numbers rounds instead of truncating."""


def apply(tf):
    tf1 = tf.compat.v1
    real = tf1.cast

    def cast(x, dtype):
        whole = tf1.as_dtype(dtype).is_integer and x.dtype.is_floating
        return real(tf1.round(x) if whole else x, dtype)

    tf1.cast = cast
