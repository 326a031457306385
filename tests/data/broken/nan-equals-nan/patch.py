"""NaN equals NaN."""


def apply(tf):
    tf1 = tf.compat.v1
    real = tf1.equal

    def equal(x, y):
        both = tf1.logical_and(tf1.not_equal(x, x), tf1.not_equal(y, y))
        return tf1.logical_or(real(x, y), both)

    tf1.equal = equal
