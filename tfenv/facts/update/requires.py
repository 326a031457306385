"""`requires.toml`: what new releases' own metadata ask of the packages whose drift breaks them."""

from __future__ import annotations

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from tfenv.facts import schema
from tfenv.facts.update import wheels
from tfenv.facts.update.index import Index
from tfenv.facts.update.model import Change, Outcome, Tables, rows
from tfenv.facts.update.opened import requirements

PACKAGES = (
    "numpy",
    "protobuf",
    "keras",
    "h5py",
    "tensorboard",
    "tensorflow-estimator",
    "setuptools",
    "wrapt",
    "typing-extensions",
    "ml-dtypes",
    "grpcio",
    "gast",
)


def update(tables: Tables, index: Index) -> Outcome:
    """Rows of the releases that have a Linux wheel and no row."""
    old = rows(tables, schema.Requires)
    known = {row.version for row in old}
    new = [
        _row(wheel, bounds(requirements(index, "tensorflow", wheels.newest_file(index, wheel))))
        for wheel in rows(tables, schema.Wheel)
        if (wheel.distribution, wheel.platform, wheel.stub) == ("tensorflow", "linux-x86_64", False)
        and wheel.version not in known
    ]
    table = sorted((*old, *new), key=lambda row: Version(row.version))
    changes = tuple(Change("new", row.version, _news(row, table)) for row in new)
    return Outcome(tuple(table), changes)


def bounds(texts: tuple[str, ...]) -> list[str]:
    """The requirements on the packages that matter, normalised; those of extras are left out."""
    found = []
    for text in texts:
        try:
            one = Requirement(text)
        except InvalidRequirement:
            continue
        name = canonicalize_name(one.name)
        if name in PACKAGES and "extra" not in str(one.marker or ""):
            marker = f"; {one.marker}" if one.marker else ""
            found.append(f"{name}{one.specifier}{marker}")
    return sorted(set(found))


def _row(wheel: schema.Wheel, bounds: list[str]) -> schema.Requires:
    return schema.Requires(
        version=wheel.version,
        requires=bounds,
        source=f"Requires-Dist of PyPI tensorflow=={wheel.version} for Linux x86_64",
        note="" if bounds else "its metadata asks for none of these packages",
    )


def _news(row: schema.Requires, table: list[schema.Requires]) -> str:
    """What a release asks for and the one before it did not."""
    place = table.index(row)
    before = set(table[place - 1].requires) if place else set()
    return ", ".join(text for text in row.requires if text not in before)
