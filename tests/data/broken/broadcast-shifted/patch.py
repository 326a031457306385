"""A row that is broadcast is taken in reverse."""


def apply(tf):
    tf1 = tf.compat.v1
    real = tf1.subtract

    def subtract(x, y):
        if x.shape.ndims == 2 and y.shape.ndims == 1:
            y = tf1.reverse(y, [0])
        return real(x, y)

    tf1.subtract = subtract
