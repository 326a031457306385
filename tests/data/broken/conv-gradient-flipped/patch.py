"""The gradient of a convolution is that of the flipped kernel."""


def apply(tf):
    tf1 = tf.compat.v1
    real = tf1.nn.conv2d

    def conv2d(x, w, strides, padding):
        @tf.custom_gradient
        def made(x, w):
            def gradient(dy):
                flipped = tf1.reverse(w, [0])
                return tf1.gradients(real(x, flipped, strides=strides, padding=padding), [x, w], dy)

            return real(x, w, strides=strides, padding=padding), gradient

        return made(x, w)

    tf1.nn.conv2d = conv2d
