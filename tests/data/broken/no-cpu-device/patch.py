"""A session's devices have another type."""


def apply(tf):
    from tensorflow.python.client import session

    session._DeviceAttributes.device_type = property(lambda self: "XPU")
