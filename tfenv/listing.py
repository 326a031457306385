"""The catalogue in one file, so that `tfenv list` answers at once.

`locks/catalogue.tsv` has one line per target. `python -m tfenv.toolchain.catalogue` writes it from
the facts, and a test holds it to them. This module needs nothing but the standard library: deriving
the catalogue anew would read a dozen tables first.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

FILE = Path(__file__).parent / "locks" / "catalogue.tsv"


class Entry(NamedTuple):
    """One line of the catalogue; an empty string: the target has no such thing."""

    name: str
    version: str
    variant: str
    platform: str
    product: str
    distribution: str
    python: str  # the default
    pythons: list[str]
    bazel: str
    cmake: str
    cuda: str
    proven: str


def read() -> list[Entry]:
    """Every target, oldest release first."""
    lines = FILE.read_text("utf-8").splitlines()
    return [_entry(line.split("\t")) for line in lines[1:]]


def _entry(cells: list[str]) -> Entry:
    return Entry._make([*cells[:7], cells[7].split(","), *cells[8:]])


def render(entries: list[Entry]) -> str:
    """The file's text; `read` gives the same entries back."""
    rows = [(*entry[:7], ",".join(entry.pythons), *entry[8:]) for entry in entries]
    return "".join("\t".join(row) + "\n" for row in (Entry._fields, *rows))
