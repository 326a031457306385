"""`wheels.toml`: the wheels that the index lists of TensorFlow's distributions.

A list does not say whether a wheel is a CUDA build (`variant`) nor where a stub leads (`real`): of
a new row both are read from the wheel, its `build_info.py` or its metadata. Of an old row they
stay, and so does every note.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
from packaging.requirements import InvalidRequirement, Requirement
from packaging.version import Version

from tfenv.errors import DownloadError, FileFormatError
from tfenv.facts import schema
from tfenv.facts.update import listing
from tfenv.facts.update.index import Index
from tfenv.facts.update.model import UNKNOWN, Change, Outcome, Tables, rows
from tfenv.facts.update.opened import build_info, requirements

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
_MOST_NEW = 300
STUB_BELOW = 100_000  # bytes; stubs have 2 to 8 KB, the smallest real wheel 23 MB
_PLATFORMS: tuple[schema.Platform, ...] = (
    "linux-x86_64",
    "linux-aarch64",
    "macos-x86_64",
    "macos-arm64",
    "windows-x86_64",
)
# The environment markers under which a platform's stub names its real distribution.
_MARKERS: dict[schema.Platform, dict[str, str]] = {
    "linux-x86_64": {"sys_platform": "linux", "platform_machine": "x86_64"},
    "linux-aarch64": {"sys_platform": "linux", "platform_machine": "aarch64"},
    "macos-x86_64": {"sys_platform": "darwin", "platform_machine": "x86_64"},
    "macos-arm64": {"sys_platform": "darwin", "platform_machine": "arm64"},
    "windows-x86_64": {"sys_platform": "win32", "platform_machine": "AMD64"},
}
_SYSTEMS = {"linux": "Linux", "darwin": "Darwin", "win32": "Windows"}

# The files of one version and platform: Python minor, platform tag, file.
Group = list[tuple[int, str, listing.File]]


def update(tables: Tables, index: Index) -> Outcome:
    """The table as the index has it, with what was read from new wheels.

    Raises:
        DownloadError: the index does not have one of the distributions, or does not answer.
        FileFormatError: a page or a new wheel cannot be read.
    """
    old = {_key(row): row for row in rows(tables, schema.Wheel)}
    listed: dict[tuple[str, str, str], schema.Wheel] = {}
    for name in DISTRIBUTIONS:
        files = index.files(name)
        if not files:
            raise DownloadError(
                f"the package index did not list {name}",
                "it does not have this distribution, so nothing can be said of it",
                "use an index that has all of TensorFlow's distributions",
            )
        listed |= {_key(row): row for row in read(name, files, index.today)}
    new = [row for key, row in listed.items() if key not in old]
    if len(new) > _MOST_NEW:
        raise FileFormatError(
            f"the index lists {len(new)} wheels that the table has not",
            f"each would be opened; a year of releases has fewer than {_MOST_NEW}",
            "check the index",
        )
    opened = [_opened(row, index) for row in new]
    return merge(old.values(), [*(r for k, r in listed.items() if k in old), *opened])


def read(distribution: str, files: Iterable[listing.File], as_of: str) -> tuple[schema.Wheel, ...]:
    """The rows that a listing gives: final releases from 1.4.0 on, CPython 3.5 and newer.

    Args:
        distribution: the normalised name that was asked for.
        files: what the index lists of it.
        as_of: the day on which it was read, YYYY-MM-DD; it stands in `source`.
    """
    found = groups(distribution, files)
    return tuple(sorted((_row(distribution, *k, g, as_of) for k, g in found.items()), key=_order))


def groups(
    distribution: str, files: Iterable[listing.File]
) -> dict[tuple[Version, schema.Platform], Group]:
    """The wheels of a distribution that are in scope, by version and platform."""
    found: dict[tuple[Version, schema.Platform], Group] = {}
    for file in files:
        name = listing.wheel_name(file)
        if name is None or name.distribution != distribution or not name.python.startswith("cp3"):
            continue
        platform, minor = _platform(name.platform), name.python.removeprefix("cp3")
        if not listing.final(name.version) or name.version < OLDEST or platform is None:
            continue
        if minor.isdigit() and int(minor) >= 5:
            entry = (int(minor), name.platform, file)
            found.setdefault((name.version, platform), []).append(entry)
    return {key: sorted(group, key=lambda entry: entry[:2]) for key, group in found.items()}


def newest_file(index: Index, row: schema.Wheel) -> listing.File:
    """The file of a row's newest Python."""
    found = groups(row.distribution, index.files(row.distribution))
    return found[Version(row.version), row.platform][-1][2]


def merge(old: Iterable[schema.Wheel], new: Iterable[schema.Wheel]) -> Outcome:
    """The table that follows from both, and what changed. Rows that are gone are kept."""
    table = {_key(row): row for row in old}
    listed = {_key(row): row for row in new}
    changes = []
    for key, row in listed.items():
        if key not in table:
            table[key] = row
            changes.append(Change("new", " ".join(key)))
        elif what := _difference(table[key], row):
            table[key] = msgspec.structs.replace(row, **_kept(table[key], row))
            changes.append(Change("changed", " ".join(key), what))
    asked = {row.distribution for row in listed.values()}
    changes += [
        Change("gone", " ".join(key), "no longer on the index; the row is kept")
        for key in table
        if key[0] in asked and key not in listed
    ]
    ordered = sorted(table.values(), key=_order)
    return Outcome(tuple(ordered), tuple(changes))


def _row(
    distribution: str, version: Version, platform: schema.Platform, files: Group, as_of: str
) -> schema.Wheel:
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


def _opened(row: schema.Wheel, index: Index) -> schema.Wheel:
    """A new row with what only the wheel itself says."""
    file = newest_file(index, row)
    if row.stub:
        real = _real(row, requirements(index, row.distribution, file))
        return _noted(row, "" if real else f"{UNKNOWN}which distribution this stub leads to", real)
    found = build_info(index, row.distribution, file)
    if found is None:
        return _noted(row, f"{UNKNOWN}whether it is a CUDA build, its build_info.py does not say")
    source = f"{row.source}; variant from the wheel's build_info"
    variant: schema.Variant = "cuda" if found.is_cuda_build else "cpu"
    return msgspec.structs.replace(row, variant=variant, source=source)


def _noted(row: schema.Wheel, note: str, real: str = "") -> schema.Wheel:
    text = "; ".join(part for part in (note, row.note) if part)
    return msgspec.structs.replace(row, note=text, real=real)


def _real(row: schema.Wheel, wanted: Iterable[str]) -> str:
    """The distribution that a stub asks for on its platform."""
    markers = dict(_MARKERS[row.platform], extra="")
    markers["platform_system"] = _SYSTEMS[markers["sys_platform"]]
    for text in wanted:
        try:
            found = Requirement(text)
            here = found.marker is None or found.marker.evaluate(dict(markers))
        except InvalidRequirement:
            continue
        if here and found.name in DISTRIBUTIONS and str(found.specifier) == f"=={row.version}":
            return found.name
    return ""


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
