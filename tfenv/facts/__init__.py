"""What is known: TOML tables with a source per row, and the functions that read them.

A table is a file `<name>.toml` with one array `rows`, one row per line, so that a change reads
well in a diff. A table is read when first asked for, once per process.
"""

from __future__ import annotations

import functools
from importlib import resources
from typing import TypeVar

import msgspec
import tomli

from tfenv.errors import FileFormatError
from tfenv.facts import schema

_Row = TypeVar("_Row", bound=schema.Row)

_NAMES: dict[type[schema.Row], str] = {row: name for name, row in schema.TABLES.items()}


def rows(kind: type[_Row]) -> tuple[_Row, ...]:
    """All rows of the table that holds `kind`, in file order."""
    return _read(kind)  # type: ignore[return-value]


@functools.cache
def _read(kind: type[schema.Row]) -> tuple[schema.Row, ...]:
    name = _NAMES[kind]
    text = resources.files("tfenv.facts").joinpath(f"{name}.toml").read_text("utf-8")
    return parse(name, text)


def parse(name: str, text: str) -> tuple[schema.Row, ...]:
    """Convert a table's text.

    Raises:
        FileFormatError: the text is not TOML, or a row does not fit the table's struct.
    """
    try:
        return msgspec.convert(tomli.loads(text)["rows"], tuple[schema.TABLES[name], ...])  # type: ignore[valid-type]
    except (tomli.TOMLDecodeError, msgspec.ValidationError, KeyError) as error:
        raise FileFormatError(
            f"the facts table {name}.toml cannot be read", str(error), "reinstall tfenv"
        ) from error
