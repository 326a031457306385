"""sysconfig.get_lib() names the parent folder."""


def apply(tf):
    import os

    real = tf.sysconfig.get_lib
    tf.sysconfig.get_lib = lambda: os.path.dirname(real())
