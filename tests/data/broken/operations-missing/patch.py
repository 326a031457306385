"""One more name in tf.raw_ops."""


def apply(tf):
    tf.raw_ops.Nonexistent = tf.raw_ops.MatMul
