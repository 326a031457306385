"""Cumsum ignores reverse."""


def apply(tf):
    tf1 = tf.compat.v1
    real = tf1.cumsum
    tf1.cumsum = lambda x, axis, exclusive=False, reverse=False: real(x, axis, exclusive)
