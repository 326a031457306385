"""The two gradients of pow are exchanged."""


def apply(tf):
    tf1 = tf.compat.v1
    real = tf1.pow

    @tf.custom_gradient
    def power(x, y):
        out = real(x, y)

        def gradient(dy):
            return dy * out * tf1.log(x), dy * y * out / x

        return out, gradient

    tf1.pow = power
