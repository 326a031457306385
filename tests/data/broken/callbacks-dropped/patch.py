"""fit forgets its callbacks."""


def apply(tf):
    kind = tf.keras.models.Model
    real = kind.fit

    def fit(self, *arguments, **options):
        options.pop("callbacks", None)
        return real(self, *arguments, **options)

    kind.fit = fit
