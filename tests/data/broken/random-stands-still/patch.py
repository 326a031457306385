"""Random_normal gives the same numbers in every run."""


def apply(tf):
    tf1 = tf.compat.v1
    def normal(shape, dtype=tf.float32, seed=0):
        return tf.random.stateless_normal(shape, [seed, 1], dtype=dtype)

    tf1.random_normal = normal
