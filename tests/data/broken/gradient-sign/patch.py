"""gradients() is negated."""


def apply(tf):
    tf1 = tf.compat.v1
    real = tf1.gradients
    tf1.gradients = lambda *args, **keywords: [-g for g in real(*args, **keywords)]
