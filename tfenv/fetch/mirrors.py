"""Other places for the same file.

Every download is verified by its hash, so a mirror can cost time but never correctness: the
public copies that facts know are tried after the places of the lock, and before them when the
user asks for one by name.
"""

from __future__ import annotations

import urllib.parse
from collections.abc import Iterable

import msgspec

from tfenv import facts
from tfenv.errors import UsageError
from tfenv.facts import schema
from tfenv.fetch.item import Item

# What the kinds of mirrors.toml serve, of the kinds of a lock.
_BY_PATH = "tensorflow-externals"  # <mirror>/<host>/<path> of the original address
_BAZEL = "bazel"  # <mirror>/<version>/<file>
_SERVED = {"bazel": _BAZEL, "source": _BY_PATH, "bazel-external": _BY_PATH}


def with_mirrors(items: Iterable[Item], mirror: str = "") -> list[Item]:
    """The items with more places to ask.

    Args:
        items: what is to be downloaded.
        mirror: a name of `mirrors.toml`, or the https address of a mirror that keeps
            `<host>/<path>` of the originals; its copies are asked first.

    Raises:
        UsageError: no such mirror.
    """
    first = _own(mirror) if mirror.startswith(("https://", "http://")) else _named(mirror)
    others = [row for row in _serving() if row not in first]
    return [
        msgspec.structs.replace(
            item, urls=_distinct([*_copies(item, first), *item.urls, *_copies(item, others)])
        )
        for item in items
    ]


def index_of(mirror: str) -> str:
    """The Python package index of a named mirror, or an empty string."""
    if not mirror or "://" in mirror:
        return ""
    return next((row.url for row in _named(mirror) if row.kind == "pip"), "")


def _serving() -> list[schema.Mirror]:
    return [row for row in facts.rows(schema.Mirror) if row.status == "serving"]


def _named(mirror: str) -> list[schema.Mirror]:
    if not mirror:
        return []
    found = [row for row in _serving() if mirror in {row.name, *row.aliases}]
    if not found:
        names = ", ".join(sorted({row.name for row in _serving()}))
        raise UsageError(
            f"no mirror '{mirror[:40]}' is known",
            f"known are {names}",
            "name one of these, or give the address of a mirror that keeps <host>/<path>",
        )
    return found


def _own(address: str) -> list[schema.Mirror]:
    url = address.rstrip("/")
    return [schema.Mirror(name="user", kind=_BY_PATH, url=url, source="--mirror")]


def _copies(item: Item, mirrors: Iterable[schema.Mirror]) -> list[str]:
    served = _SERVED.get(item.kind, "")
    found: list[str] = []
    for row in mirrors:
        if row.name == "user" or row.kind == served == _BY_PATH:
            found += [_by_path(row.url, url) for url in item.urls if url.startswith("https://")]
        elif row.kind == served == _BAZEL and item.urls:
            name = item.urls[0].rsplit("/", 1)[-1]
            found.append(f"{row.url}/{urllib.parse.quote(item.version)}/{name}")
    return found


def _by_path(mirror: str, url: str) -> str:
    if url.startswith(f"{mirror}/"):
        return url
    return f"{mirror}/{url.removeprefix('https://')}"


def _distinct(urls: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(urls))
