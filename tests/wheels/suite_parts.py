"""Parts of the verification suite that need no TensorFlow, imported as the suite imports them."""

from __future__ import annotations

import importlib
import importlib.util
import json
import subprocess
import sys
from types import ModuleType
from typing import NamedTuple

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


class Listed(NamedTuple):
    """What the suite says of a check without running it."""

    id: str
    file: str
    catches: tuple[str, ...]

    @property
    def name(self) -> str:
        """Its id without the case: one name for all cases of a parametrised check."""
        return self.id.split("[")[0]


def listing() -> list[Listed]:
    """Every check of the suite."""
    command = [sys.executable, "-I", str(suite() / "run.py"), "--list", "--profile", "full"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    rows = map(json.loads, done.stdout.splitlines())
    return [Listed(row["id"], row["file"], tuple(row["catches"])) for row in rows]
