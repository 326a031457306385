"""The build's own record claims CUDA."""


def apply(tf):
    tf.test.is_built_with_cuda = lambda: True
    try:
        record = tf.sysconfig.get_build_info
        tf.sysconfig.get_build_info = lambda: dict(record(), is_cuda_build=True)
    except AttributeError:
        from tensorflow.python.platform import build_info

        build_info.is_cuda_build = True
