"""Python locks: hash-pinned requirement files in `locks/python/`.

One package per pair of lines: a comment with the file's name and its size in bytes, then the
requirement with the file's sha256. pip and uv read such a file as it is. No address stands in it:
the index is the user's setting.
"""

from __future__ import annotations

import functools
import re
from pathlib import Path

import msgspec

from tfenv.errors import FileFormatError

_HEADER = re.compile(r"# (?P<key>[a-z-]+): (?P<value>.*)")
_FILE = re.compile(r"# (?P<file>[A-Za-z0-9][A-Za-z0-9._+!-]*) (?P<size>\d+)")
_PIN = re.compile(
    r"(?P<name>[A-Za-z0-9][A-Za-z0-9._-]*)==(?P<version>[A-Za-z0-9.!+_-]+)"
    r" --hash=sha256:(?P<sha256>[0-9a-f]{64})"
)


class Pinned(msgspec.Struct, frozen=True):
    """One file of a package index."""

    name: str
    version: str
    file: str
    size: int  # bytes
    sha256: str

    @property
    def is_sdist(self) -> bool:
        """Whether the file must be built before it can be installed."""
        return not self.file.endswith(".whl")


class PythonPins(msgspec.Struct, frozen=True):
    """A parsed Python lock."""

    header: dict[str, str]  # requirement, python, platform, as-of, ...
    pins: tuple[Pinned, ...]

    def version_of(self, name: str) -> str:
        """The pinned version of a package, or an empty string."""
        return next((p.version for p in self.pins if p.name == name), "")

    @property
    def sdists(self) -> tuple[Pinned, ...]:
        """The source distributions."""
        return tuple(p for p in self.pins if p.is_sdist)


@functools.lru_cache(maxsize=4096)
def parse(text: str, name: str) -> PythonPins:
    """Read a Python lock.

    Raises:
        FileFormatError: a line is neither a comment, a file nor a hash-pinned requirement.
    """
    header: dict[str, str] = {}
    pins: list[Pinned] = []
    file, size = "", 0
    for number, line in enumerate(text.splitlines(), 1):
        if not line:
            continue
        if found := _FILE.fullmatch(line):
            file, size = found["file"], int(found["size"])
        elif found := _HEADER.fullmatch(line):
            header[found["key"]] = found["value"]
        elif found := _PIN.fullmatch(line):
            pins.append(Pinned(found["name"], found["version"], file, size, found["sha256"]))
        elif not line.startswith("#"):
            raise FileFormatError(
                f"{name} is not a Python lock",
                f"line {number} is not `name==version --hash=sha256:...`: {line[:80]}",
                "write it again with `tfenv lock`",
            )
    return PythonPins(header, tuple(pins))


def render(pins: PythonPins, title: str) -> str:
    """Write a Python lock; `parse` gives the same value back."""
    lines = [f"# {title}"]
    lines += [f"# {key}: {value}" for key, value in pins.header.items()]
    lines.append("")
    for pin in sorted(pins.pins, key=lambda p: p.name):
        lines.append(f"# {pin.file} {pin.size}")
        lines.append(f"{pin.name}=={pin.version} --hash=sha256:{pin.sha256}")
    return "\n".join(lines) + "\n"


@functools.cache
def shipped(file: str) -> str | None:
    """The text of a shipped Python lock, or None."""
    path = Path(__file__).parents[1] / "locks" / "python" / file
    return path.read_text("utf-8") if path.is_file() else None


def stem(requirement: str, python: str, platform: str) -> str:
    """The file name, without suffix, under which a resolution is kept.

    >>> stem("tensorflow-cpu==2.6.5", "3.7", "linux-x86_64")
    'tensorflow-cpu-2.6.5-cp37-linux_x86_64'
    """
    name, _, version = requirement.partition("==")
    name = name.replace("[", "-").replace("]", "")
    return f"{name}-{version}-cp{python.replace('.', '')}-{platform.replace('-', '_')}"
