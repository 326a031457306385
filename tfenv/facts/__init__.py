"""What is known: TOML tables with a source per row, and the functions that read them.

A table is a file `<name>.toml` with one array `rows`, one row per line, so that a change reads
well in a diff. A table is read when first asked for, once per process.
"""

from __future__ import annotations

import contextlib
import functools
from pathlib import Path
from typing import TypeVar

import msgspec

from tfenv.errors import FileFormatError
from tfenv.facts import schema

_Row = TypeVar("_Row", bound=schema.Row)

_FOLDER = Path(__file__).parent
_NAMES: dict[type[schema.Row], str] = {row: name for name, row in schema.TABLES.items()}


def rows(kind: type[_Row]) -> tuple[_Row, ...]:
    """All rows of the table that holds `kind`, in file order."""
    return _read(kind)  # type: ignore[return-value]


@functools.cache
def _read(kind: type[schema.Row]) -> tuple[schema.Row, ...]:
    name = _NAMES[kind]
    return parse(name, (_FOLDER / f"{name}.toml").read_text("utf-8"))


def grouped(kind: type[_Row], *fields: str) -> dict[tuple[str, ...], tuple[_Row, ...]]:
    """The rows of a table by the values of some of their text fields, in file order."""
    return _group(kind, fields)  # type: ignore[return-value]


@functools.cache
def _group(
    kind: type[schema.Row], fields: tuple[str, ...]
) -> dict[tuple[str, ...], tuple[schema.Row, ...]]:
    found: dict[tuple[str, ...], list[schema.Row]] = {}
    for row in rows(kind):
        found.setdefault(tuple(getattr(row, name) for name in fields), []).append(row)
    return {key: tuple(group) for key, group in found.items()}


def parse(name: str, text: str) -> tuple[schema.Row, ...]:
    """Convert a table's text.

    Raises:
        FileFormatError: the text is not TOML, or a row does not fit the table's struct.
    """
    kind = schema.TABLES[name]
    quick = _as_json(kind, text)
    if quick is not None:
        with contextlib.suppress(msgspec.DecodeError):
            return msgspec.json.decode(quick, type=tuple[kind, ...])  # type: ignore[valid-type]
    try:
        import tomli

        return msgspec.convert(tomli.loads(text)["rows"], tuple[kind, ...])  # type: ignore[valid-type]
    except (ValueError, msgspec.ValidationError, KeyError) as error:
        raise FileFormatError(
            f"the facts table {name}.toml cannot be read", str(error), "reinstall tfenv"
        ) from error


def _as_json(kind: type[schema.Row], text: str) -> str | None:
    """The rows of a table in the form that `table.render` writes, as JSON.

    That form differs from JSON by `key = ` and a last comma, and msgspec reads JSON several times
    faster than any reader of TOML; a command reads a dozen tables. The quotes that are put around
    a key would end any string that they fell into, in front of a letter: no JSON comes of it, and
    the table is read as TOML.
    """
    _, found, body = text.partition("\nrows = [")
    body = body.rstrip()
    if not found or not body.endswith(",\n]"):
        return None
    first = body[body.find("{ ") + 2 :].partition(" = ")[0]
    body = body.replace(f"{{ {first} = ", f'{{ "{first}": ')
    for name in kind.__struct_fields__:
        if name != first:
            body = body.replace(f", {name} = ", f', "{name}": ')
    return f"[{body[:-3]}]"
