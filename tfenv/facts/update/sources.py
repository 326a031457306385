"""`sources.toml`: a row per new release, so that it is a target; what was not read is marked.

The index has no source of TensorFlow. That a release exists is proven by its wheels, and where its
archive lies by the rule of all tags before; the sha256 and the commit have to be read there.
"""

from __future__ import annotations

from packaging.version import Version

from tfenv.facts import schema
from tfenv.facts.update.index import Index
from tfenv.facts.update.model import UNKNOWN, Change, Outcome, Tables, rows
from tfenv.facts.versions import tree


def update(tables: Tables, index: Index) -> Outcome:
    """Rows of the releases that have wheels and no row."""
    old = rows(tables, schema.Source)
    wheels = {tree(row.version) for row in rows(tables, schema.Wheel)}
    new = wheels - {row.version for row in old}
    table = sorted((*old, *(_row(v, index.today) for v in new)), key=lambda r: Version(r.version))
    return Outcome(tuple(table), tuple(Change("new", v) for v in sorted(new, key=Version)))


def _row(version: str, today: str) -> schema.Source:
    return schema.Source(
        version=version,
        tag=f"v{version}",
        url=f"https://github.com/tensorflow/tensorflow/archive/v{version}.tar.gz",
        sha256="",
        source=f"PyPI simple index, read {today}: the release has wheels; the address is the rule "
        "of all tags before it",
        note=f"{UNKNOWN}sha256 and commit: the archive was not read",
    )
