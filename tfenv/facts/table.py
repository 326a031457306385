"""The text of a facts table: a comment header, then one row per line."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import resources

import msgspec

from tfenv.facts import schema


def header(name: str) -> str:
    """The comment that stands above the rows of a shipped table."""
    text = resources.files("tfenv.facts").joinpath(f"{name}.toml").read_text("utf-8")
    return text.partition("\nrows = ")[0].rstrip("\n")


def render(head: str, rows: Iterable[schema.Row]) -> str:
    """A table's text; `facts.parse` gives the same rows back.

    A field that has its default value is left out; source and note come last.
    """
    lines = [head, "", "rows = ["]
    lines += [f"  {{ {_row(row)} }}," for row in rows]
    lines.append("]")
    if len(lines) == 4:
        lines[2:] = ["rows = []"]
    return "\n".join(lines) + "\n"


def _row(row: schema.Row) -> str:
    fields = {field.name: field for field in msgspec.structs.fields(type(row))}
    last = ("source", "note")
    names = [name for name in fields if name not in last] + list(last)
    parts = []
    for name in names:
        value, field = getattr(row, name), fields[name]
        default = field.default_factory() if _has(field.default_factory) else field.default
        if field.required or value != default:
            parts.append(f"{name} = {_value(value)}")
    return ", ".join(parts)


def _has(factory: object) -> bool:
    return factory is not msgspec.NODEFAULT


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, list):
        return f"[{', '.join(_value(item) for item in value)}]"
    text = str(value).replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(c if c.isprintable() else _escape(c) for c in text) + '"'


def _escape(character: str) -> str:
    return f"\\U{ord(character):08X}"
