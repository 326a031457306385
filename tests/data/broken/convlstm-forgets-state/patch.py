"""stateful is taken and does nothing."""


def apply(tf):
    layer = tf.keras.layers.ConvLSTM2D
    real = layer.__init__

    def begin(self, filters, kernel_size, **options):
        options.pop("stateful", None)
        real(self, filters, kernel_size, **options)

    layer.__init__ = begin
    layer.reset_states = lambda self, states=None: None
