"""Softmax does not subtract the maximum and overflows."""


def apply(tf):
    tf1 = tf.compat.v1
    def softmax(x):
        return tf1.exp(x) / tf1.reduce_sum(tf1.exp(x), -1, keepdims=True)

    tf1.nn.softmax = softmax
