"""The cell state is multiplied by 0.99."""


def apply(tf):
    import importlib

    module = importlib.import_module(tf.keras.layers.ConvLSTM2D.__module__)
    cell = getattr(module, "ConvLSTM2DCell", None) or module.ConvLSTMCell
    real = cell.call

    def call(self, inputs, states, training=None):
        h, (_, c) = real(self, inputs, states, training)
        return h, [h, c * 0.99]

    cell.call = call
