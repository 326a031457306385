"""Other places for the same file.

Every download is verified by its hash, so a mirror can cost time but never correctness: the
public copies that facts know are tried after the places of the lock, and before them when the
user asks for one with `--mirror`.
"""

from __future__ import annotations

import urllib.parse
from collections.abc import Iterable, Mapping

import msgspec

from tfenv import facts
from tfenv.facts import schema
from tfenv.fetch.item import Item
from tfenv.render.mirrors import parse

# What the kinds of mirrors serve, of the kinds of a lock.
BY_PATH = "tensorflow-externals"  # <mirror>/<host>/<path> of the original address
_BAZEL = "bazel"  # <mirror>/<version>/<file>
_SERVED = {"bazel": _BAZEL, "source": BY_PATH, "bazel-external": BY_PATH}


def with_mirrors(items: Iterable[Item], mirror: str = "") -> list[Item]:
    """The items with more places to ask.

    Args:
        items: what is to be downloaded.
        mirror: `--mirror`: a name, or kind=name,kind=ADDRESS; its copies are asked first.

    Raises:
        UsageError: no such mirror, or it does not serve what is asked of it.
    """
    chosen = parse(mirror).places
    others = {row.url: row.kind for row in facts.rows(schema.Mirror) if row.status == "serving"}
    first = {url: kind for kind, url in chosen.items()}
    return [
        msgspec.structs.replace(
            item, urls=_distinct([*_copies(item, first), *item.urls, *_copies(item, others)])
        )
        for item in items
    ]


def place_of(kind: str, mirror: str) -> str:
    """The address that `--mirror` gives for a kind, or an empty string."""
    return parse(mirror).get(kind)


def _copies(item: Item, places: Mapping[str, str]) -> list[str]:
    served = _SERVED.get(item.kind)
    found: list[str] = []
    for place, kind in places.items():
        base = place.rstrip("/")
        if kind == served == BY_PATH:
            found += [_by_path(base, url) for url in item.urls if url.startswith("https://")]
        elif kind == served == _BAZEL and item.urls:
            name = item.urls[0].rsplit("/", 1)[-1]
            found.append(f"{base}/{urllib.parse.quote(item.version)}/{name}")
    return found


def _by_path(mirror: str, url: str) -> str:
    if url.startswith(f"{mirror}/"):
        return url
    return f"{mirror}/{url.removeprefix('https://')}"


def _distinct(urls: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(urls))
