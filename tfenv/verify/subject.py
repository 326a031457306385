"""What is verified: a target's wheel, the locks around it, and the Pythons they are for."""

from __future__ import annotations

import functools
import re
from importlib import resources
from pathlib import Path

import msgspec

from tfenv.errors import ConflictError, UsageError
from tfenv.facts import pinned
from tfenv.target import Target
from tfenv.toolchain import lookup
from tfenv.toolchain.model import Choices
from tfenv.toolchain.python import python as preferred_python
from tfenv.toolchain.python import supported_pythons


class Subject(msgspec.Struct, frozen=True, kw_only=True):
    """One target in one Python."""

    target: Target
    python: str  # 3.7
    requirement: str  # tensorflow-cpu==2.6.5
    pins: pinned.PythonPins
    lock: str  # text of the Python lock
    build_lock: str  # text of the lock of build tools; empty: nothing is built
    suite_lock: str  # text of the lock of pytest and what the suite needs beside it
    wheel: Path | None = None  # a file instead of the released wheel

    @property
    def distribution(self) -> str:
        """The name on the package index, without extras."""
        return re.split(r"[\[=]", self.requirement)[0]

    @property
    def versions(self) -> dict[str, str]:
        """Every locked package and its version."""
        return {pin.name: pin.version for pin in self.pins.pins}

    def describe(self) -> str:
        """Which wheel is verified, for the first line of a report."""
        if self.wheel is not None:
            return f"{self.wheel.name} (a file)"
        pin = next((p for p in self.pins.pins if p.name == self.distribution), None)
        return f"{pin.file} (released)" if pin else f"{self.requirement} (released)"


def locked_pythons(target: Target) -> list[str]:
    """The Pythons for which a lock is shipped, the target's own first.

    Raises:
        ConflictError: no lock is shipped for this target.
    """
    supported, _ = supported_pythons(target)
    first = preferred_python(target, Choices()).value
    order = [first, *(p for p in reversed(supported) if p != first)]
    found = [p for p in order if lookup.python_lock(target, p) and suite_lock(target, p)]
    if not found:
        raise ConflictError(
            f"{target.name} cannot be verified yet",
            f"no Python lock and suite lock are shipped for {lookup.requirement(target) or 'it'}",
            "see `tfenv list` for the targets that have one",
        )
    return found


def of(target: Target, python: str, wheel: Path | None = None) -> Subject:
    """The subject of a target in one of its `locked_pythons`."""
    found = lookup.python_lock(target, python)
    assert found is not None
    file, pins = found
    text = pinned.shipped(file)
    assert text is not None
    build = pinned.shipped(file.removesuffix(".txt") + ".build.txt") or ""
    return Subject(
        target=target,
        python=python,
        requirement=lookup.requirement(target),
        pins=pins,
        lock=text,
        build_lock=build,
        suite_lock=suite_lock(target, python),
        wheel=None if wheel is None else checked_wheel(wheel, target),
    )


def checked_wheel(wheel: Path, target: Target) -> Path:
    """A wheel file whose name fits the target's version.

    Raises:
        UsageError: it is no wheel, or a wheel of something else.
    """
    from packaging.utils import InvalidWheelFilename, parse_wheel_filename

    try:
        name, version, _, _ = parse_wheel_filename(wheel.name)
    except InvalidWheelFilename as error:
        raise UsageError(
            f"'{wheel.name}' is not a wheel's name", str(error), "give a file ending in .whl"
        ) from error
    if not wheel.is_file():
        raise UsageError(
            f"there is no file {wheel}", "the path of --wheel does not exist", "check the path"
        )
    if not str(name).startswith("tensorflow") or version.public != target.version:
        raise UsageError(
            f"{wheel.name} is not a wheel of TensorFlow {target.version}",
            f"its name says {name} {version}",
            f"give the target that it was built for, or another wheel for {target.name}",
        )
    return wheel.resolve()


@functools.cache
def suite_lock(target: Target, python: str) -> str:
    """The suite lock that goes with a Python lock, or an empty text."""
    wanted = lookup.requirement(target)
    if not wanted:
        return ""
    name = pinned.stem(wanted, python, target.platform) + ".txt"
    path = resources.files("tfenv").joinpath("locks", "suite", name)
    return path.read_text("utf-8") if path.is_file() else ""
