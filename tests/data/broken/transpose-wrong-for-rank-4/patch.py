"""A transposition of rank 4 exchanges two axes too many."""


def apply(tf):
    tf1 = tf.compat.v1
    real = tf1.transpose

    def transpose(x, perm=None):
        if perm is not None and len(perm) == 4:
            perm = [perm[0], perm[1], perm[3], perm[2]]
        return real(x, perm)

    tf1.transpose = transpose
