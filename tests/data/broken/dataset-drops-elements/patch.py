"""map() skips its first element."""


def apply(tf):
    kind = tf.data.Dataset
    real = kind.map

    def fewer(self, *arguments, **options):
        return real(self, *arguments, **options).skip(1)

    kind.map = fewer
