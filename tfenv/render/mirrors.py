"""Mirrors: applied to generated files, never to a lock.

`--mirror tsinghua` takes all that this mirror serves; `--mirror pip=ustc,conda=tsinghua` chooses per
kind, and an address may stand in place of a name. A kind that the mirror does not serve keeps its
canonical place.
"""

from __future__ import annotations

import functools

import msgspec

from tfenv import facts
from tfenv.errors import UsageError
from tfenv.facts import schema
from tfenv.render import safety

# The kinds that generated files and downloads can use.
KINDS = (
    "pip",
    "apt-ubuntu",
    "apt-debian",
    "conda",
    "conda-defaults",
    "bazel",
    "nix",
    "ubuntu-ports",
    "ubuntu-old-releases",
    "homebrew",
    "miniconda",
    "tensorflow-externals",  # archives of WORKSPACE and sources, as <host>/<path> of the original
)


class Mirrors(msgspec.Struct, frozen=True):
    """The place of each kind; a kind that is absent keeps its canonical place."""

    places: dict[str, str] = {}
    channels: dict[str, list[str]] = {}  # conda kinds: the channels that the place serves

    def get(self, kind: str) -> str:
        """The mirror's address for a kind, or an empty string."""
        return self.places.get(kind, "")


def parse(text: str) -> Mirrors:
    """Read a `--mirror` option.

    Raises:
        UsageError: the mirror is not known, or does not serve the kind that was asked of it.
        UnsafeValueError: an address is malformed.
    """
    if not text:
        return Mirrors()
    places: dict[str, str] = {}
    channels: dict[str, list[str]] = {}
    for part in text.split(","):
        kind, equals, name = part.partition("=")
        if equals:
            _one(kind.strip(), name.strip(), places, channels)
        else:
            _all(part.strip(), places, channels)
    return Mirrors(places, channels)


def _one(kind: str, name: str, places: dict[str, str], channels: dict[str, list[str]]) -> None:
    if kind not in KINDS:
        raise UsageError(
            f"--mirror: '{kind[:40]}' is not a kind of mirror",
            f"the kinds are {', '.join(KINDS)}",
            "for example --mirror pip=tsinghua,conda=ustc",
        )
    if "://" in name:
        places[kind] = safety.url(name, f"--mirror {kind}")
        return
    rows = [r for r in _named(name) if r.kind == kind]
    serving = [r for r in rows if r.status == "serving"]
    if not serving:
        raise UsageError(
            f"the mirror {name} does not serve {kind}",
            _why_not(rows, kind),
            f"--mirror {kind}=ADDRESS, or leave this kind out",
        )
    _take(serving[0], places, channels)


def _all(name: str, places: dict[str, str], channels: dict[str, list[str]]) -> None:
    if "://" in name:
        raise UsageError(
            "--mirror with an address needs its kind",
            "one address cannot serve every kind",
            f"--mirror pip={name[:60]}",
        )
    for row in _named(name):
        if row.kind in KINDS and row.status == "serving":
            _take(row, places, channels)


def _take(row: schema.Mirror, places: dict[str, str], channels: dict[str, list[str]]) -> None:
    places[row.kind] = row.url
    if row.serves:
        channels[row.kind] = list(row.serves)


def _why_not(rows: list[schema.Mirror], kind: str) -> str:
    if not rows:
        return f"nothing is known of {kind} there"
    row = rows[0]
    return f"{row.status}: {row.note or row.source}"


def _named(name: str) -> list[schema.Mirror]:
    found = _table().get(name.lower())
    if found is None:
        import difflib

        near = difflib.get_close_matches(name[:40].lower(), list(_table()), n=1)
        raise UsageError(
            f"there is no mirror '{name[:40]}'",
            f"known are {', '.join(sorted({r.name for r in facts.rows(schema.Mirror)}))}",
            f"did you mean {near[0]}?" if near else "choose one, or give an address per kind",
        )
    return found


@functools.cache
def _table() -> dict[str, list[schema.Mirror]]:
    table: dict[str, list[schema.Mirror]] = {}
    for row in facts.rows(schema.Mirror):
        for name in (row.name, *row.aliases):
            table.setdefault(name, []).append(row)
    return table
