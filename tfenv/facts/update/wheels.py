"""`wheels.toml` from the package index's lists of files.

What a list cannot say stays as it is: whether a wheel is a CUDA build (`variant`), where a stub
leads, and every note. A new row's variant is inferred from its newest neighbour, and says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import msgspec
from packaging.version import InvalidVersion, Version

from tfenv.errors import FileFormatError
from tfenv.facts import schema

DISTRIBUTIONS = (
    "tensorflow",
    "tensorflow-cpu",
    "tensorflow-gpu",
    "tensorflow-intel",
    "tensorflow-macos",
    "tensorflow-cpu-aws",
    "tensorflow-aarch64",
)
OLDEST = Version("1.4.0")
STUB_BELOW = 100_000  # bytes; stubs have 2 to 8 KB, the smallest real wheel 23 MB
_PLATFORMS: tuple[schema.Platform, ...] = (
    "linux-x86_64",
    "linux-aarch64",
    "macos-x86_64",
    "macos-arm64",
    "windows-x86_64",
)
_WHEEL = re.compile(
    r"(?P<name>[A-Za-z0-9_.]+)-(?P<version>[A-Za-z0-9_.!+]+)"
    r"-cp3(?P<minor>\d+)-[a-z0-9_]+-(?P<tag>[A-Za-z0-9_.]+)\.whl"
)


class _File(msgspec.Struct, frozen=True, rename="kebab"):
    filename: str
    size: int
    upload_time: str
    yanked: bool | str = False
    requires_python: str | None = None


class _Listing(msgspec.Struct, frozen=True):
    files: list[_File]


class Change(msgspec.Struct, frozen=True):
    """One difference between the table and the index."""

    kind: str  # new, changed, gone
    distribution: str
    version: str
    platform: str
    what: str = ""


def read(distribution: str, document: bytes, as_of: str) -> tuple[schema.Wheel, ...]:
    """The rows that a listing gives: final releases from 1.4.0 on, CPython 3.5 and newer.

    Args:
        distribution: the normalised name that was asked for.
        document: the simple index's page in JSON.
        as_of: the day on which it was read, YYYY-MM-DD; it stands in `source`.

    Raises:
        FileFormatError: the document is not such a page.
    """
    try:
        listing = msgspec.json.decode(document, type=_Listing)
    except msgspec.DecodeError as error:
        raise FileFormatError(
            f"the index's list of {distribution} cannot be read",
            str(error),
            "use an index that gives size and upload time (PEP 700)",
        ) from error
    groups: dict[tuple[Version, schema.Platform], list[tuple[int, str, _File]]] = {}
    for file in listing.files:
        found = _WHEEL.fullmatch(file.filename)
        version = _final(found["version"]) if found else None
        platform = _platform(found["tag"]) if found else None
        if not found or not version or not platform or int(found["minor"]) < 5:
            continue
        if found["name"].replace("_", "-").lower() != distribution:
            continue
        entry = (int(found["minor"]), found["tag"], file)
        groups.setdefault((version, platform), []).append(entry)
    rows = [_row(distribution, *key, files, as_of) for key, files in groups.items()]
    return tuple(sorted(rows, key=_order))


def merge(
    old: Iterable[schema.Wheel], new: Iterable[schema.Wheel]
) -> tuple[tuple[schema.Wheel, ...], tuple[Change, ...]]:
    """The table that follows from both, and what changed. Rows that are gone are kept."""
    table = {_key(row): row for row in old}
    listed = {_key(row): row for row in new}
    changes = []
    for key, row in listed.items():
        if key not in table:
            table[key] = _neighbourly(row, table.values())
            changes.append(Change("new", *key))
        elif what := _difference(table[key], row):
            table[key] = msgspec.structs.replace(row, **_kept(table[key], row))
            changes.append(Change("changed", *key, what))
    asked = {row.distribution for row in listed.values()}
    changes += [
        Change("gone", *key, "no longer on the index; the row is kept")
        for key in table
        if key[0] in asked and key not in listed
    ]
    return tuple(sorted(table.values(), key=_order)), tuple(changes)


def _row(
    distribution: str,
    version: Version,
    platform: schema.Platform,
    files: list[tuple[int, str, _File]],
    as_of: str,
) -> schema.Wheel:
    files = sorted(files, key=lambda entry: entry[:2])
    _, tag, newest = files[-1]
    tags = sorted({tag for _, tag, _ in files})
    reasons = sorted({str(f.yanked) for _, _, f in files if f.yanked})
    notes = [f"tags: {', '.join(tags)}"] if len(tags) > 1 else []
    notes += [f"yanked: {'; '.join(reasons)}"] if reasons else []
    return schema.Wheel(
        distribution=distribution,
        version=str(version),
        platform=platform,
        variant="cuda" if distribution == "tensorflow-gpu" else "cpu",
        pythons=[f"3.{minor}" for minor in sorted({minor for minor, _, _ in files})],
        date=min(f.upload_time[:10] for _, _, f in files),
        tag=tag,
        size=newest.size,
        stub=newest.size < STUB_BELOW,
        requires_python=newest.requires_python or "",
        source=f"PyPI simple index, read {as_of}",
        note="; ".join(notes),
    )


def _neighbourly(row: schema.Wheel, table: Iterable[schema.Wheel]) -> schema.Wheel:
    """A new row with the variant of the newest older wheel like it."""
    alike = [
        other
        for other in table
        if (other.distribution, other.platform, other.stub)
        == (row.distribution, row.platform, row.stub)
        and Version(other.version) < Version(row.version)
    ]
    before = max(alike, key=lambda other: Version(other.version), default=None)
    said = f"variant as of {before.version}" if before else "variant from the name"
    if row.stub:
        said = "a stub; what it depends on was not read"
    note = "; ".join(part for part in (row.note, f"{said}; this wheel was not opened") if part)
    return msgspec.structs.replace(
        row, variant=before.variant if before else row.variant, note=note
    )


_LISTED = ("pythons", "date", "tag", "size", "stub", "requires_python")


def _difference(old: schema.Wheel, new: schema.Wheel) -> str:
    parts = [
        f"{name}: {getattr(old, name)!r} -> {getattr(new, name)!r}"
        for name in _LISTED
        if getattr(old, name) != getattr(new, name)
    ]
    if "yanked" in new.note and "yanked" not in old.note:
        parts.append(new.note)
    return "; ".join(parts)


def _kept(old: schema.Wheel, new: schema.Wheel) -> dict[str, str]:
    """What the index does not list, and where that came from."""
    _, semicolon, beside = old.source.partition(";")
    source = new.source + semicolon + beside
    news = new.note if "yanked" in new.note and "yanked" not in old.note else ""
    note = "; ".join(part for part in (old.note, news) if part)
    return {"variant": old.variant, "real": old.real, "note": note, "source": source}


def _final(text: str) -> Version | None:
    try:
        version = Version(text)
    except InvalidVersion:
        return None
    other = version.is_prerelease or version.local
    return None if other or version < OLDEST else version


def _platform(tag: str) -> schema.Platform | None:
    if "win_amd64" in tag:
        return "windows-x86_64"
    if tag.startswith("macosx_"):
        return "macos-arm64" if tag.endswith("arm64") else "macos-x86_64"
    if "linux" in tag and tag.endswith("aarch64"):
        return "linux-aarch64"
    return "linux-x86_64" if "linux" in tag and tag.endswith("x86_64") else None


def _key(row: schema.Wheel) -> tuple[str, str, str]:
    return (row.distribution, row.version, row.platform)


def _order(row: schema.Wheel) -> tuple[int, Version, int]:
    return (
        DISTRIBUTIONS.index(row.distribution),
        Version(row.version),
        _PLATFORMS.index(row.platform),
    )
