"""The device of an eager tensor is an empty text."""


def apply(tf):
    type(tf.constant(0)).device = property(lambda self: "")
