"""The setting is dropped before TensorFlow is loaded."""

import os

os.environ.pop("ONEDNN_MAX_CPU_ISA", None)
os.environ.pop("DNNL_MAX_CPU_ISA", None)


def apply(tf):
    pass
