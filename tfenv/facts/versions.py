"""Versions and version ranges (PEP 440), as far as releases need them.

The names of TensorFlow, Bazel, CUDA and Python releases are dotted numbers, at most with a post
release. Comparing only those costs a hundredth of what the general library costs to import, and
every command does it; a test holds both to the same answers.
"""

from __future__ import annotations

import functools
import re

_VERSION = re.compile(r"(?P<release>\d+(?:\.\d+)*)(?:\.post(?P<post>\d+))?")
_CLAUSE = re.compile(
    r"(?P<operator>==|!=|<=|>=|~=|<|>)\s*(?P<version>\d+(\.\d+)*(\.post\d+)?)(?P<any>\.\*)?"
)
_NO_POST = -1


class Version:
    """A dotted number, perhaps a post release; 1.4 equals 1.4.0."""

    __slots__ = ("_key", "post", "release", "short")

    def __init__(self, text: str) -> None:
        """Parse a version.

        Raises:
            ValueError: the text is no such version.
        """
        match = _VERSION.fullmatch(text)
        if match is None:
            raise ValueError(f"'{text[:40]}' is not a version")
        self.release = tuple(map(int, match["release"].split(".")))
        self.post = _NO_POST if match["post"] is None else int(match["post"])
        self.short = self.release  # without zeros at the end
        while len(self.short) > 1 and not self.short[-1]:
            self.short = self.short[:-1]
        self._key = (self.short, self.post)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Version) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    def __lt__(self, other: Version) -> bool:
        return self._key < other._key

    def __le__(self, other: Version) -> bool:
        return self._key <= other._key

    def __gt__(self, other: Version) -> bool:
        return self._key > other._key

    def __ge__(self, other: Version) -> bool:
        return self._key >= other._key


def tree(text: str) -> str:
    """The release whose tree a version was built from: a post release only changes metadata."""
    return text.partition(".post")[0]


def minor(text: str) -> str:
    """The first two parts of a version: 11.3 of 11.3.1."""
    return ".".join(text.split(".")[:2])


@functools.cache
def version(text: str) -> Version:
    """A version by its text.

    Raises:
        ValueError: the text is no such version.
    """
    return Version(text)


class _Clause:
    """One comparison of a range."""

    __slots__ = ("any", "bound", "operator")

    def __init__(self, text: str) -> None:
        match = _CLAUSE.fullmatch(text)
        if match is None or (match["any"] and match["operator"] not in ("==", "!=")):
            raise ValueError(f"'{text[:40]}' is not a comparison of versions")
        self.operator: str = match["operator"]
        self.bound = version(match["version"])
        self.any = bool(match["any"])
        if self.operator == "~=" and len(self.bound.release) < 2:
            raise ValueError(f"'{text[:40]}' needs a version of two parts or more")

    def holds(self, found: Version) -> bool:
        bound = self.bound
        if self.operator in ("==", "!="):
            same = _starts(found, bound.release) if self.any else found == bound
            return same == (self.operator == "==")
        if self.operator == "<":
            return found < bound
        if self.operator == "<=":
            return found <= bound
        if self.operator == "~=":
            return found >= bound and _starts(found, bound.release[:-1])
        if self.operator == ">":
            # A post release is not newer than its own release, unless the bound is one too.
            own = found.post != _NO_POST and bound.post == _NO_POST
            return found > bound and not (own and found.short == bound.short)
        return found >= bound


def _starts(found: Version, start: tuple[int, ...]) -> bool:
    padded = found.release + (0,) * (len(start) - len(found.release))
    return padded[: len(start)] == start


@functools.cache
def specifier(text: str) -> tuple[_Clause, ...]:
    """A range, such as `>=2.4,<2.7` or `==2.6.*`; empty: everything.

    Raises:
        ValueError: the text is no such range.
    """
    return tuple(_Clause(part.strip()) for part in text.split(",") if part.strip())


@functools.cache
def within(found: str, wanted: str) -> bool:
    """Whether a version is inside a range.

    Raises:
        ValueError: the version or the range cannot be read.
    """
    parsed = version(found)
    return all(clause.holds(parsed) for clause in specifier(wanted))
