"""Random_shuffle loses a row and repeats another."""


def apply(tf):
    tf1 = tf.compat.v1
    real = tf1.random_shuffle

    def shuffle(x, seed=None):
        out = real(x, seed=seed)
        return tf1.concat([out[:1], out[:-1]], 0)

    tf1.random_shuffle = shuffle
