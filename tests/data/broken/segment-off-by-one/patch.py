"""The rows of segments are taken one too late."""


def apply(tf):
    tf1 = tf.compat.v1
    real = tf1.segment_sum
    tf1.segment_sum = lambda x, ids: real(tf1.roll(x, 1, 0), ids)
