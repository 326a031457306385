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


def keep_modules():
    """Give every module of the API its public name too.

    `import tensorflow.compat.v1` would otherwise load a second one, and put it in the place of the
    one that was broken.
    """
    for name, module in list(sys.modules.items()):
        for root in ("tensorflow._api.v2.", "tensorflow._api.v1.", "tensorflow_core._api.v1."):
            if name.startswith(root):
                sys.modules.setdefault("tensorflow." + name[len(root) :], module)


def apply(tf):
    keep_modules()
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
