"""Normal numbers are a fifth too wide."""


def apply(tf):
    tf1 = tf.compat.v1
    real = tf1.random_normal
    tf1.random_normal = lambda *arguments, **more: real(*arguments, **more) * 1.2
