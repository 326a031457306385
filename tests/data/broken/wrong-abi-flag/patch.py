"""CXX11_ABI_FLAG is turned round."""


def apply(tf):
    tf1 = tf.compat.v1
    wrong = 1 - int(getattr(tf1, "CXX11_ABI_FLAG", 0))
    tf1.CXX11_ABI_FLAG = wrong
    tf.sysconfig.CXX11_ABI_FLAG = wrong
