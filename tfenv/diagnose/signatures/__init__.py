"""Signatures, causes and clues: data only, and the functions that read them.

Every TOML file of this folder may hold arrays `signature`, `clue`, `outcome`, `remark` and
`trouble`; causes.toml holds one table per root cause, causes.<language>.toml its translation.
"""

from __future__ import annotations

import functools
from importlib import resources
from typing import Any

import msgspec
import tomli

from tfenv.diagnose.model import Cause, Clue, Outcome, Remark, Signature, Trouble
from tfenv.errors import FileFormatError

_APART = ("causes", "messages", "lists")  # files of another shape


class Library(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All signatures of the package."""

    signature: list[Signature] = []
    clue: list[Clue] = []
    outcome: list[Outcome] = []
    remark: list[Remark] = []
    trouble: list[Trouble] = []


@functools.cache
def library() -> Library:
    """Every signature, clue, outcome, remark and trouble, in file order."""
    merged: dict[str, list[Any]] = {name: [] for name in Library.__struct_fields__}
    folder = resources.files(__package__ or __name__)
    for path in sorted(folder.iterdir(), key=lambda p: p.name):
        if path.name.endswith(".toml") and not path.name.startswith(_APART):
            part = parse(path.name, path.read_text("utf-8"))
            for name, rows in merged.items():
                rows.extend(getattr(part, name))
    return Library(**merged)


def parse(name: str, text: str) -> Library:
    """One file's content.

    Raises:
        FileFormatError: not TOML, or not of this shape.
    """
    try:
        return msgspec.convert(tomli.loads(text), Library)
    except (tomli.TOMLDecodeError, msgspec.ValidationError) as error:
        raise FileFormatError(
            f"the signature file {name} cannot be read", str(error), "correct or reinstall it"
        ) from error


@functools.cache
def causes(language: str = "en") -> dict[str, Cause]:
    """The root causes by name, in the order of the file; what a translation lacks stays English."""
    english = _tables("causes.toml")
    if language != "en":
        for name, words in _tables(f"causes.{language}.toml").items():
            english[name].update(words)
    return msgspec.convert(english, dict[str, Cause])


@functools.cache
def messages(language: str) -> dict[str, str]:
    """The fixed phrases of the output, English to `language`."""
    return {} if language == "en" else dict(_tables(f"messages.{language}.toml")["messages"])


@functools.cache
def name_list(name: str) -> frozenset[str]:
    """One list of lists.toml."""
    text = resources.files(__package__ or __name__).joinpath("lists.toml").read_text("utf-8")
    return frozenset(tomli.loads(text)[name])


def languages() -> list[str]:
    """The languages that causes are translated to."""
    names = [path.name for path in resources.files(__package__ or __name__).iterdir()]
    return [
        "en",
        *sorted(n.split(".")[1] for n in names if n.startswith("causes.") and n.count(".") == 2),
    ]


def _tables(name: str) -> dict[str, dict[str, Any]]:
    folder = resources.files(__package__ or __name__)
    return tomli.loads(folder.joinpath(name).read_text("utf-8"))
