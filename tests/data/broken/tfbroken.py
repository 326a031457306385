"""Loaded by a .pth file when Python starts: breaks TensorFlow right after it is imported."""

import importlib.machinery
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


class Finder(object):
    """Finds `tensorflow` as Python would, and adds the patch to its loading."""

    def find_spec(self, name, path=None, target=None):
        if name != "tensorflow":
            return None
        sys.meta_path.remove(self)
        spec = importlib.machinery.PathFinder.find_spec(name, path)
        load = spec.loader.exec_module

        def exec_module(module):
            load(module)
            # The package may have put something else in its own place.
            apply(sys.modules["tensorflow"])

        spec.loader.exec_module = exec_module
        return spec


def apply(tf):
    for name in sorted(os.listdir(HERE)):
        if name.startswith("tfbroken_op") and name.endswith(".so"):
            tf.load_op_library(os.path.join(HERE, name))
    if PATCH is not None:
        PATCH.apply(tf)


try:
    import tfbroken_patch as PATCH
except ImportError:
    PATCH = None
sys.meta_path.insert(0, Finder())
