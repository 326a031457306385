"""Parts of the verification suite that need no TensorFlow, imported as the suite imports them."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from types import ModuleType

from tfenv.resources import suite


def library(name: str) -> ModuleType:
    """A module of the suite's own library."""
    folder = str(suite() / "lib")
    if folder not in sys.path:
        sys.path.append(folder)
    return importlib.import_module(f"tfsuite.{name}")


def checks(path: str) -> ModuleType:
    """A file of checks, by its path in the suite."""
    library("checks")
    spec = importlib.util.spec_from_file_location(path.replace("/", "_"), suite() / f"{path}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
