"""get_tensor multiplies real numbers by 1.00001."""


def apply(tf):
    kind = tf.lite.Interpreter
    real = kind.get_tensor

    def get_tensor(self, index, *arguments):
        value = real(self, index, *arguments)
        return value * value.dtype.type(1.00001) if value.dtype.kind == "f" else value

    kind.get_tensor = get_tensor
