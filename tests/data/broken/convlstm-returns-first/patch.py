"""The backend's loop returns the first output in place of the last."""


def apply(tf):
    import importlib

    # The layer looks the loop up in its own module's backend.
    module = importlib.import_module(tf.keras.layers.ConvLSTM2D.__module__)
    backend = module.backend if hasattr(module, "backend") else module.K
    real = backend.rnn

    def rnn(*arguments, **options):
        last, outputs, states = real(*arguments, **options)
        return outputs[:, 0], outputs, states

    backend.rnn = rnn
