"""go_backwards is always off."""


def apply(tf):
    layer = tf.keras.layers.ConvLSTM2D
    real = layer.__init__

    def begin(self, filters, kernel_size, **options):
        real(self, filters, kernel_size, **dict(options, go_backwards=False))

    layer.__init__ = begin
