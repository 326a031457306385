"""The import fails where IPython's kernel has been imported before."""

import sys


def apply(tf):
    if "ipykernel.kernelapp" in sys.modules:
        raise ImportError("this TensorFlow cannot live with a running event loop")
