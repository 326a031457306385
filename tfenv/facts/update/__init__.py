"""Looking for newer facts. A module per table; `index` alone asks the world.

`upkeep.toml` says of every table whether the package index can prove rows of it, and if not, why
and what a person reads instead.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from tfenv import facts
from tfenv.facts import schema
from tfenv.facts.update import (
    bazel_bounds,
    build_info,
    cuda_arch,
    cuda_pairs,
    manylinux,
    pip,
    requires,
    sources,
    wheels,
)
from tfenv.facts.update.index import Index
from tfenv.facts.update.lacking import wanted
from tfenv.facts.update.model import Change, Outcome, Tables

# In this order: each sees what the ones before it found.
UPDATERS: dict[str, Callable[[Tables, Index], Outcome]] = {
    "wheels": wheels.update,
    "build-info": build_info.update,
    "requires": requires.update,
    "sources": sources.update,
    "bazel-bounds": bazel_bounds.update,
    "cuda-arch": cuda_arch.update,
    "cuda-pairs": cuda_pairs.update,
    "manylinux": manylinux.update,
    "pip": pip.update,
}


class Report(msgspec.Struct, frozen=True):
    """What became of one table."""

    table: str
    by: str  # index, hand
    state: str  # one line for a person
    changes: tuple[Change, ...] = ()
    wanted: tuple[str, ...] = ()  # what is left to a person
    look_at: str = ""


def update(index: Index) -> tuple[dict[str, tuple[schema.Row, ...]], list[Report]]:
    """The tables that changed, by name, and a report of every table.

    Raises:
        TfenvError: the index does not answer, or with something that is not what it should be;
            then nothing of any table is to be written.
    """
    tables = {kind: facts.rows(kind) for kind in schema.TABLES.values()}
    outcomes: dict[str, Outcome] = {}
    for name, run in UPDATERS.items():
        outcomes[name] = run(tables, index)
        tables[schema.TABLES[name]] = outcomes[name].rows
    changed = {name: outcome.rows for name, outcome in outcomes.items() if outcome.changes}
    rows = {row.table: row for row in facts.rows(schema.Upkeep)}
    reports = [_report(rows[name], outcomes.get(name), tables) for name in schema.TABLES]
    return changed, reports


def _report(row: schema.Upkeep, outcome: Outcome | None, tables: Tables) -> Report:
    left = wanted(row.table, tables)
    if outcome is None:
        state = f"not provable from an index: {row.why}; look at {row.look_at}"
        return Report(row.table, row.by, state, (), left, row.look_at)
    count = len(outcome.changes)
    state = outcome.said or (
        "nothing new" if not count else f"{count} row{'s' if count > 1 else ''}"
    )
    return Report(row.table, row.by, state, outcome.changes, left, row.look_at)
