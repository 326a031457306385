"""Toolchain -> lock: every download by hash.

`make` is pure; `python` and `resolve` ask a package index and are used by `tfenv lock` only.
"""

from __future__ import annotations

from tfenv.lock.make import PythonFiles, make
from tfenv.lock.model import Artifact, Lock, PythonLock, Value
from tfenv.lock.store import dumps, load, loads, shipped
from tfenv.target import Target
from tfenv.toolchain import Choices, choose

__all__ = [
    "Artifact",
    "Lock",
    "PythonFiles",
    "PythonLock",
    "Value",
    "dumps",
    "for_target",
    "load",
    "loads",
    "make",
    "shipped",
]


def for_target(target: Target, choices: Choices | None = None) -> Lock:
    """The lock of a target, made from the facts; pure.

    Raises:
        ConflictError: no toolchain satisfies the target and the choices.
    """
    return make(choose(target, choices))
