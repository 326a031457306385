"""What is to be downloaded, and what came of it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Literal

import msgspec

from tfenv.errors import FileFormatError
from tfenv.lock.model import Artifact

_HEX = frozenset("0123456789abcdef")

Status = Literal["cached", "downloaded", "copied", "failed"]


class Item(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One file by its sha256, and the places that may have it, in order of preference."""

    name: str
    sha256: str
    urls: list[str]
    size: int = 0  # bytes; 0: not known
    kind: str = ""
    version: str = ""
    file: str = ""  # the name that a person knows it by, e.g. of a wheel
    python: str = ""  # the Python that a wheel was locked for
    platform: str = ""  # and its platform
    canonical_id: str = ""  # Bazel's, where the rule sets one

    def __post_init__(self) -> None:
        if len(self.sha256) != 64 or not set(self.sha256) <= _HEX:
            raise FileFormatError(
                f"the sha256 of {self.name} is not 64 hexadecimal digits",
                f"it reads {self.sha256[:80]!r}",
                "correct the lock, or write it anew with `tfenv lock --update`",
            )


class Attempt(msgspec.Struct, frozen=True):
    """One place that did not give the file, and why."""

    url: str
    problem: str
    wrong_hash: bool = False


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """What came of one item."""

    item: Item
    status: Status
    path: Path | None = None  # in the cache; None where it failed
    url: str = ""  # the place that gave it
    attempts: list[Attempt] = []


def from_artifacts(artifacts: Iterable[Artifact]) -> tuple[list[Item], list[Artifact]]:
    """Split a lock's artifacts into files that can be verified here, and the others.

    The others are images and nixpkgs revisions, which their own tools fetch by digest, and
    artifacts whose hash is not known: those are never downloaded, because nothing could tell a
    wrong file from the right one.
    """
    items: list[Item] = []
    others: list[Artifact] = []
    for artifact in artifacts:
        if artifact.sha256 and artifact.urls:
            items.append(
                Item(
                    name=artifact.name,
                    sha256=artifact.sha256,
                    urls=list(artifact.urls),
                    size=artifact.size,
                    kind=artifact.kind,
                    version=artifact.version,
                )
            )
        else:
            others.append(artifact)
    return items, others


def distinct(items: Iterable[Item]) -> list[Item]:
    """One item per sha256, with the places of all its namesakes, in order of appearance."""
    found: dict[str, Item] = {}
    for item in items:
        known = found.get(item.sha256)
        if known is None:
            found[item.sha256] = item
        else:
            found[item.sha256] = msgspec.structs.replace(
                known,
                urls=list(dict.fromkeys([*known.urls, *item.urls])),
                size=known.size or item.size,
                file=known.file or item.file,
                canonical_id=known.canonical_id or item.canonical_id,
            )
    return list(found.values())
