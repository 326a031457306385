"""tf.function always passes jit_compile=True."""


def apply(tf):
    real = tf.function
    tf.function = lambda *args, **keywords: real(*args, **dict(keywords, jit_compile=True))
