"""The step is forgotten."""


def apply(tf):
    real = tf.summary.scalar
    tf.summary.scalar = lambda name, data, step=None, **options: real(name, data, step=0, **options)
