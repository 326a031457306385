"""The mean of an odd number of elements is off by 1e-3."""


def apply(tf):
    tf1 = tf.compat.v1
    real = tf1.reduce_mean

    def reduce_mean(x, axis=None):
        mean = real(x, axis=axis)
        odd = (x.shape.num_elements() or 0) % 2 and x.dtype.is_floating
        return mean * 1.001 if odd else mean

    tf1.reduce_mean = reduce_mean
