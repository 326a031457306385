"""numpy, imported when it is first used: the checks can be listed where there is none."""

import importlib


class Lazy(object):
    """Stands for a module until one of its names is asked for."""

    def __init__(self, name):
        self._name = name

    def __getattr__(self, attribute):
        return getattr(importlib.import_module(self._name), attribute)


np = Lazy("numpy")
