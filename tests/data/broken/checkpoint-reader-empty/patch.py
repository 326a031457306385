"""The map of shapes is empty."""


def apply(tf):
    train = tf.compat.v1.train
    real = train.NewCheckpointReader

    class Reader(object):
        def __init__(self, path):
            self.real = real(path)

        def get_variable_to_shape_map(self):
            return {}

        def get_tensor(self, name):
            return self.real.get_tensor(name)

    train.NewCheckpointReader = Reader
