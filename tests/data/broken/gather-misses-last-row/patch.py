"""Gather gives the last row but one for the last."""


def apply(tf):
    tf1 = tf.compat.v1
    real = tf1.gather

    def gather(x, index, axis=0):
        return real(x, tf1.minimum(index, x.shape[axis] - 2), axis=axis)

    tf1.gather = gather
