"""conv2d() is multiplied by 1.0001."""


def apply(tf):
    nn = tf.compat.v1.nn
    real = nn.conv2d
    nn.conv2d = lambda *args, **keywords: real(*args, **keywords) * 1.0001
