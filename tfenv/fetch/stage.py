"""The fetch stage: everything that a lock names, into the cache."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from tfenv.errors import FileFormatError
from tfenv.facts.pinned import parse, shipped
from tfenv.fetch import folder as portable
from tfenv.fetch import pool, wheels
from tfenv.fetch.cache import Cache
from tfenv.fetch.externals.follow import read
from tfenv.fetch.externals.record import External, Externals
from tfenv.fetch.externals.tree import Tree, of_archive, of_folder
from tfenv.fetch.item import Item, Outcome, distinct, from_artifacts
from tfenv.fetch.mirrors import place_of, with_mirrors
from tfenv.fetch.progress import shown
from tfenv.files import sha256_bytes
from tfenv.lock.model import Artifact, Lock

# A source tree may carry archives of its own there, as Bazel's --distdir takes them.
_DISTDIR = "distdir"


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """Where files may come from."""

    mirror: str = ""
    index: str = ""  # Python package index
    folder: Path | None = None  # --from
    offline: bool = False


class Fetched(msgspec.Struct, frozen=True, kw_only=True):
    """What is in the cache now, and what tfenv leaves to other tools."""

    outcomes: list[Outcome]
    left_out: list[Artifact]
    externals: list[External] = []
    unread: list[str] = []  # what might be downloaded and could not be known

    @property
    def bytes(self) -> int:
        """Bytes of all files."""
        return sum(o.path.stat().st_size for o in self.outcomes if o.path is not None)


def fetch_locks(
    locks: Sequence[Lock], source: Source, cache: Cache, tree: Path | None = None
) -> Fetched:
    """Fetch what locks name and a sha256 can verify; the rest is named in `left_out`.

    Args:
        locks: of the targets.
        source: where files may come from.
        cache: where they go.
        tree: a source tree that will be built instead of the release's archive.

    Raises:
        DownloadError: something could not be had.
    """
    items, others = from_artifacts(
        artifact
        for lock in locks
        for artifact in lock.artifact
        if tree is None or artifact.kind != "source"
    )
    items += [item for lock in locks for item in python_items(lock)]
    outcomes = fetch_items(items, source, cache)
    unread: list[str] = []
    archives: list[External] = []
    for lock in locks:
        starlark = source_tree(lock, cache, tree)
        if starlark is None:
            unread.append(
                f"{lock.target}: the external archives of its source tree, as that is not here"
            )
            continue
        found = read_externals(lock, starlark, source, cache, tree)
        outcomes += fetch_items(external_items(lock, found), source, cache)
        archives += found.archives
        unread += what_is_not_known(found)
    return Fetched(outcomes=_once(outcomes), left_out=others, unread=unread, externals=archives)


def _once(outcomes: Sequence[Outcome]) -> list[Outcome]:
    return list({outcome.item.sha256: outcome for outcome in reversed(outcomes)}.values())[::-1]


def source_tree(lock: Lock, cache: Cache, folder: Path | None) -> Tree | None:
    """The Starlark of what will be built: of a folder, or of the archive in the cache."""
    if folder is not None:
        return of_folder(folder)
    for artifact in lock.artifact:
        if artifact.kind == "source" and artifact.sha256:
            path = cache.path(artifact.sha256)
            return of_archive(path) if path.is_file() else None
    return None


def read_externals(
    lock: Lock, tree: Tree, source: Source, cache: Cache, folder: Path | None = None
) -> Externals:
    """What the tree would download; rule repositories that it loads are fetched to be read.

    Raises:
        MissingExtraError: the Starlark interpreter is not installed.
    """
    bazel = lock.toolchain["bazel"].value if "bazel" in lock.toolchain else ""

    def fetch(items: Sequence[Item]) -> list[Outcome]:
        return fetch_items(items, source, cache, tolerant=True)

    found = read(tree, fetch, bazel)
    if folder is not None and (folder / _DISTDIR).is_dir():
        portable.read(folder / _DISTDIR, found.items(), cache)
    return found


def external_items(lock: Lock, found: Externals) -> list[Item]:
    """The archives as downloads. One that is a file of the Python lock too comes from the index."""
    indexed = {item.sha256: item for item in python_items(lock)}
    return [
        msgspec.structs.replace(indexed[item.sha256], urls=item.urls)
        if item.sha256 in indexed
        else item
        for item in found.items()
    ]


def what_is_not_known(found: Externals) -> list[str]:
    """What Bazel may download although no cache can serve it, a line each."""
    lines = [f"{one.symbol} of {one.label}: that file is not at hand" for one in found.unread]
    lines += [f"{one.name} has no sha256: {one.source}" for one in found.unhashed]
    return lines + [f"not evaluated: {failure}" for failure in found.failures]


def python_items(lock: Lock) -> list[Item]:
    """The files of a lock's Python part, and of what builds its source distributions.

    Raises:
        FileFormatError: a file of `locks/python` is not the one that the lock names.
    """
    if lock.python is None:
        return []
    found = _pins(lock.python.file, lock.python.sha256)
    if lock.python.build_file:
        found += _pins(lock.python.build_file, lock.python.build_sha256)
    return found


def _pins(file: str, sha256: str) -> list[Item]:
    text = shipped(file) or ""
    if sha256_bytes(text.encode()) != sha256:
        raise FileFormatError(
            f"the Python lock {file} is not the one that the target's lock names",
            "its sha256 differs" if text else "there is no such file",
            "reinstall tfenv, or write both anew with `tfenv lock`",
        )
    return wheels.items(parse(text, file))


def fetch_items(
    items: Sequence[Item], source: Source, cache: Cache, *, tolerant: bool = False
) -> list[Outcome]:
    """Fetch items: from the cache, then from a folder, then from the network unless offline.

    Args:
        items: what is wanted.
        source: where it may come from.
        cache: where it goes.
        tolerant: return failures instead of raising them.

    Raises:
        DownloadError: something could not be had.
    """
    wanted = distinct(items)
    had: list[Outcome] = []
    missing = wanted
    if source.folder is not None:
        had, missing = portable.read(source.folder, wanted, cache)
    elif source.offline:
        had, missing = _cached(wanted, cache)
    if missing and source.offline:
        if not tolerant:
            raise portable.offline(missing, source.folder)
        had += [Outcome(item=item, status="failed") for item in missing]
    elif missing:
        had += _download(missing, source, cache)
    if not tolerant:
        pool.require_all(had)
    by_hash = {outcome.item.sha256: outcome for outcome in had}
    return [by_hash[item.sha256] for item in wanted]


def _cached(wanted: Sequence[Item], cache: Cache) -> tuple[list[Outcome], list[Item]]:
    found = [(item, cache.find(item.sha256)) for item in wanted]
    had = [Outcome(item=item, status="cached", path=path) for item, path in found if path]
    return had, [item for item, path in found if path is None]


def _download(missing: Sequence[Item], source: Source, cache: Cache) -> list[Outcome]:
    placed = with_mirrors(missing, source.mirror)
    with shown(placed) as hooks:
        return pool.fetch(_with_index(placed, source, cache), cache, hooks=hooks)


def _with_index(items: Sequence[Item], source: Source, cache: Cache) -> list[Item]:
    """Ask the package index about Python files that are not in the cache yet."""
    unplaced = [i for i in items if i.kind == "python" and not cache.path(i.sha256).exists()]
    if not unplaced:
        return list(items)
    places = wheels.places(unplaced, source.index or place_of("pip", source.mirror))
    return [
        msgspec.structs.replace(item, urls=[*places.get(item.sha256, []), *item.urls])
        for item in items
    ]
