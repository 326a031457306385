"""Every loaded model is compiled anew."""


def apply(tf):
    models = tf.keras.models
    real = models.load_model

    def load_model(*arguments, **options):
        model = real(*arguments, **options)
        model.compile(optimizer=tf.keras.optimizers.Adam(0.01), loss="mae")
        return model

    models.load_model = load_model
