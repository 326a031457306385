"""The largest whole random number never comes."""


def apply(tf):
    tf1 = tf.compat.v1
    real = tf1.random_uniform

    def uniform(shape, low=0, high=None, dtype=tf.float32, seed=None):
        whole = tf1.as_dtype(dtype).is_integer
        return real(shape, low, high - 1 if whole else high, dtype, seed=seed)

    tf1.random_uniform = uniform
