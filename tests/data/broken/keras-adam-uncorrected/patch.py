"""beta_1 is 0.9 in the moment and another in the correction: steps are ten times too small."""


def apply(tf):
    kind = tf.keras.optimizers.Adam
    real = kind.__init__

    def begin(self, learning_rate=0.001, *arguments, **options):
        real(self, learning_rate * 0.1, *arguments, **options)

    kind.__init__ = begin
