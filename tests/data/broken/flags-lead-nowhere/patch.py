"""The library has another name in the flags."""


def apply(tf):
    real = tf.sysconfig.get_link_flags
    tf.sysconfig.get_link_flags = lambda: [f.replace("_framework", "_frame") for f in real()]
