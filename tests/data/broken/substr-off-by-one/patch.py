"""Substr starts one byte too late."""


def apply(tf):
    tf1 = tf.compat.v1
    real = tf1.substr
    tf1.substr = lambda x, start, length: real(x, start + 1, length)
