"""The debugging switch is on."""


def apply(tf):
    tf.config.run_functions_eagerly(True)
