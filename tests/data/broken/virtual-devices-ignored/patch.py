"""set_logical_device_configuration() does nothing."""


def apply(tf):
    tf.config.set_logical_device_configuration = lambda device, configurations: None
