"""Toolchain -> lock: every download by hash.

`make` is pure; `python` and `resolve` ask a package index and are used by `tfenv lock` only.
"""

from __future__ import annotations

from tfenv.lock.make import make
from tfenv.lock.model import Artifact, Lock, PythonLock, Value
from tfenv.lock.store import dumps, load, loads, shipped

__all__ = ["Artifact", "Lock", "PythonLock", "Value", "dumps", "load", "loads", "make", "shipped"]
