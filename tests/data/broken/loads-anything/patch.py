"""An error while loading is swallowed."""


def apply(tf):
    real = tf.load_op_library

    def load_op_library(path):
        try:
            return real(path)
        except Exception:
            return None

    tf.load_op_library = load_op_library
