"""tf.function(jit_compile=True) multiplies its result by 1.001."""


def apply(tf):
    real = tf.function

    class Wrong(object):
        def __init__(self, made):
            self.made = made

        def __call__(self, *arguments):
            return tf.nest.map_structure(lambda t: t * 1.001, self.made(*arguments))

        def __getattr__(self, name):
            return getattr(self.made, name)

    def function(func=None, **options):
        made = real(func, **options)
        return Wrong(made) if func is not None and options.get("jit_compile") else made

    tf.function = function
