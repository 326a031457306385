"""Reduce_any answers as reduce_all does."""


def apply(tf):
    tf1 = tf.compat.v1
    tf1.reduce_any = tf1.reduce_all
