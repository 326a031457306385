"""`bazel-bounds.toml`: a row per new release, empty until somebody reads the release's tree."""

from __future__ import annotations

from packaging.version import Version

from tfenv.facts import schema
from tfenv.facts.update.index import Index
from tfenv.facts.update.model import UNKNOWN, Change, Outcome, Tables, rows


def update(tables: Tables, index: Index) -> Outcome:
    """Rows of the releases that have a source and no bounds."""
    old = rows(tables, schema.BazelBound)
    new = {row.version for row in rows(tables, schema.Source)} - {row.version for row in old}
    table = sorted((*old, *(_row(v, index.today) for v in new)), key=lambda r: Version(r.version))
    return Outcome(tuple(table), tuple(Change("new", v) for v in sorted(new, key=Version)))


def _row(version: str, today: str) -> schema.BazelBound:
    return schema.BazelBound(
        version=version,
        confidence="tree not read",
        source=f"PyPI simple index, read {today}: the release has wheels",
        note=f"{UNKNOWN}the bounds: .bazelversion and configure.py of v{version} were not read",
    )
