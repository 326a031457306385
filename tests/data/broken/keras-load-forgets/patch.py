"""The first weight of a loaded model is zero."""


def apply(tf):
    models = tf.keras.models
    real = models.load_model

    def load_model(*arguments, **options):
        model = real(*arguments, **options)
        weights = model.get_weights()
        weights[0] = weights[0] * 0
        model.set_weights(weights)
        return model

    models.load_model = load_model
