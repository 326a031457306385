"""optimizations is always empty."""


def apply(tf):
    found = tf.lite.TFLiteConverter.from_keras_model

    def from_keras_model(model):
        converter = found(model)
        kind = type(converter)
        wrapped = type(
            kind.__name__,
            (kind,),
            {"optimizations": property(lambda self: [], lambda self, value: None)},
        )
        converter.__class__ = wrapped
        return converter

    tf.lite.TFLiteConverter.from_keras_model = from_keras_model
