"""`pip.toml`: the newest pip that an old Python can run, and that the kept ones still are what
they were.

The row of the newest Pythons has no upper bound: which pip it takes is a choice, and stays.
"""

from __future__ import annotations

import msgspec
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from tfenv.errors import HashMismatchError
from tfenv.facts import schema
from tfenv.facts.update import listing
from tfenv.facts.update.index import Index
from tfenv.facts.update.model import Change, Outcome, Tables, rows


def update(tables: Tables, index: Index) -> Outcome:
    """Each row against the index.

    Raises:
        HashMismatchError: the index lists a kept file with another sha256.
    """
    files = {f.filename: f for f in index.files("pip")}
    old = rows(tables, schema.Installer)
    if not files:
        return Outcome(old, said="the index does not have pip")
    pythons = sorted({p for w in rows(tables, schema.Wheel) for p in w.pythons}, key=Version)
    new, changes = [], []
    for row in old:
        _hold(row, files)
        best = None if "<" not in row.pythons else _newest(files, _oldest(row, pythons))
        if best is None or Version(best[0]) <= Version(row.version):
            new.append(row)
            continue
        version, file = best
        new.append(_taken(row, version, file))
        changes.append(Change("changed", row.pythons, f"version: {row.version} -> {version}"))
    return Outcome(tuple(new), tuple(changes))


def _hold(row: schema.Installer, files: dict[str, listing.File]) -> None:
    file = files.get(row.file)
    if file is not None and file.sha256 != row.sha256:
        raise HashMismatchError(
            f"the index lists another {row.file} than pip.toml has",
            f"its sha256 is {file.sha256 or 'not given'}, in the table {row.sha256}",
            "check the index or its mirror",
        )


def _oldest(row: schema.Installer, pythons: list[str]) -> str:
    """The oldest Python of a row."""
    fit = [p for p in pythons if SpecifierSet(row.pythons).contains(p)]
    return fit[0] if fit else ""


def _newest(files: dict[str, listing.File], python: str) -> tuple[str, listing.File] | None:
    """The newest pip that says it runs with a Python; of it all patches are meant."""

    def runs(name: listing.WheelName, file: listing.File) -> bool:
        asked = SpecifierSet(file.requires_python or "")
        return (
            bool(file.sha256 and python)
            and name.platform == "any"
            and asked.contains(f"{python}.99")
        )

    found = listing.newest(files.values(), runs)
    return (str(found[0]), found[1]) if found else None


def _taken(row: schema.Installer, version: str, file: listing.File) -> schema.Installer:
    return msgspec.structs.replace(
        row,
        version=version,
        file=file.filename,
        size=file.size,
        sha256=file.sha256,
        source=f"PyPI pip=={version}",
    )
