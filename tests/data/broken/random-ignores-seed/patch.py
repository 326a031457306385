"""Random_uniform ignores its seed."""


def apply(tf):
    tf1 = tf.compat.v1
    real = tf1.random_uniform
    tf1.random_uniform = lambda *arguments, seed=None, **more: real(*arguments, **more)
