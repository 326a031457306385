"""What every updater of a table gives."""

from __future__ import annotations

from typing import TypeVar, cast

import msgspec

from tfenv.facts import schema
from tfenv.facts.check import UNKNOWN, Tables

__all__ = ["UNKNOWN", "Change", "Outcome", "Tables", "rows"]

_Row = TypeVar("_Row", bound=schema.Row)


class Change(msgspec.Struct, frozen=True):
    """One difference between a table and the index."""

    kind: str  # new, changed, gone
    key: str  # what the row is about
    what: str = ""


class Outcome(msgspec.Struct, frozen=True):
    """A table as the index would have it."""

    rows: tuple[schema.Row, ...]
    changes: tuple[Change, ...] = ()
    said: str = ""  # what could not be asked, and why


def rows(tables: Tables, kind: type[_Row]) -> tuple[_Row, ...]:
    """The rows of one table."""
    return cast("tuple[_Row, ...]", tables[kind])
