"""What is meant to differ between two sides: said beforehand, and held to the letter.

A version, and the lines of text members as a diff without context. A declaration excuses exactly
what it says: a line more, less or elsewhere is a difference, and so is a declared change that is
not there. Libraries and other binary members cannot be declared.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import msgspec
import tomli

from tfenv.errors import FileFormatError, UsageError


class Change(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One text member.

    Attributes:
        path: as a report names it, `{version}` standing for each side's own in `.dist-info`.
        diff: lines of a unified diff without context: `@@ -91 +91,2 @@`, `-old`, `+new`.
    """

    path: str
    diff: list[str]


class Declaration(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All that is meant to differ.

    Attributes:
        version: of A and of B, as their METADATA give them.
    """

    format: Literal[1] = 1
    version: tuple[str, str] | None = None
    change: list[Change] = []

    def diff_of(self, path: str) -> list[str] | None:
        return next((change.diff for change in self.change if change.path == path), None)


NOTHING = Declaration()


def parse(texts: Sequence[str]) -> Declaration:
    """Put together what a command line declares: `version=OLD:NEW`, or files.

    Raises:
        UsageError: two declarations contradict each other, or `version=` has not two parts.
        FileFormatError: a file cannot be read.
    """
    version: tuple[str, str] | None = None
    changes: dict[str, Change] = {}
    for text in texts:
        found = _of_version(text) if text.startswith("version=") else load(Path(text))
        if version and found.version and found.version != version:
            raise _unusable(text, "another version is declared before it")
        version = found.version or version
        for change in found.change:
            if change.path in changes:
                raise _unusable(text, f"{change.path} is declared twice")
            changes[change.path] = change
    return Declaration(version=version, change=list(changes.values()))


def _of_version(text: str) -> Declaration:
    old, colon, new = text.removeprefix("version=").partition(":")
    if not (old and colon and new):
        raise _unusable(text, "two versions are wanted")
    return Declaration(version=(old, new))


def _unusable(text: str, why: str) -> UsageError:
    return UsageError(
        f"--declare {text[:80]} cannot be used", why, "--declare version=2.6.4:2.6.5, or a file"
    )


def load(path: Path) -> Declaration:
    """Read a declaration's file.

    Raises:
        FileFormatError: it is missing, no TOML, or has a key or value that is not known.
    """
    try:
        return msgspec.convert(tomli.loads(path.read_text("utf-8")), Declaration)
    except (OSError, UnicodeDecodeError, tomli.TOMLDecodeError, msgspec.ValidationError) as error:
        raise FileFormatError(
            f"the declaration {path.name} cannot be read",
            str(error),
            "`tfenv audit A B --draft FILE` writes one to start from",
        ) from error


def render(declaration: Declaration) -> str:
    """A declaration as its file's text. JSON's strings are strings of TOML too."""
    lines = ["# What is meant to differ. Read every line before you keep it.", "format = 1"]
    if declaration.version:
        lines.append(f"version = {json.dumps(list(declaration.version))}")
    for change in declaration.change:
        lines += ["", "[[change]]", f"path = {_quoted(change.path)}", "diff = ["]
        lines += [f"  {_quoted(line)}," for line in change.diff] + ["]"]
    return "\n".join(lines) + "\n"


def _quoted(line: str) -> str:
    return json.dumps(line, ensure_ascii=False).replace("\x7f", "\\u007f")
