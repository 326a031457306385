"""A thousandth of the batch's mean is added to every output."""


def apply(tf):
    import importlib

    module = importlib.import_module(tf.keras.layers.ConvLSTM2D.__module__)
    cell = getattr(module, "ConvLSTM2DCell", None) or module.ConvLSTMCell
    real = cell.call

    def call(self, inputs, states, training=None):
        h, (_, c) = real(self, inputs, states, training)
        h = h + 0.001 * tf.reduce_mean(h, axis=0, keepdims=True)
        return h, [h, c]

    cell.call = call
