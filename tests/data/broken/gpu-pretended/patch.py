"""The build's record is that of a CUDA build, and a driver is there."""

import ctypes
import os

# Whoever opens libcuda.so.1 from here on gets the library that has this name already.
HERE = os.path.dirname(os.path.abspath(__file__))
DRIVER = ctypes.CDLL(os.path.join(HERE, "tfbroken_libcuda.so"), ctypes.RTLD_GLOBAL)


def apply(tf):
    record = tf.sysconfig.get_build_info
    tf.test.is_built_with_cuda = lambda: True
    tf.sysconfig.get_build_info = lambda: dict(record(), is_cuda_build=True)
