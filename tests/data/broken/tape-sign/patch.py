"""GradientTape.gradient() is negated."""


def apply(tf):
    real = tf.GradientTape.gradient
    tf.GradientTape.gradient = lambda self, *args, **keywords: -real(self, *args, **keywords)
