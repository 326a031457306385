"""Dropout does not scale what it keeps."""


def apply(tf):
    tf1 = tf.compat.v1
    real = tf1.nn.dropout
    tf1.nn.dropout = lambda x, keep, seed=None: real(x, keep, seed=seed) * keep
