"""A portable folder: what a fetch brought, to be carried to a machine without a network.

    manifest.json                             what is in it, by name, hash and size
    content_addressable/sha256/<hash>/file    the files, in the layout of the cache
    <target>.lock.toml                        the lock, with the source tree's external archives

Any other folder can be read too: its files are recognised by their hash, whatever their names.
"""

from __future__ import annotations

import contextlib
import json
import shutil
import threading
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from tfenv import files
from tfenv.errors import DownloadError, UsageError
from tfenv.fetch.cache import Cache, content_path
from tfenv.fetch.externals.record import External
from tfenv.fetch.item import Item, Outcome, Status, distinct
from tfenv.fetch.pool import label
from tfenv.fetch.transport import cannot_write
from tfenv.lock.model import Artifact, Lock
from tfenv.lock.store import dumps

SCHEMA = 1
MANIFEST = "manifest.json"


def write(folder: Path, outcomes: Sequence[Outcome], targets: Sequence[str]) -> Path:
    """Copy what was fetched into `folder`, each file checked again, and list it.

    Returns:
        The manifest's path.

    Raises:
        DownloadError: the folder cannot be written.
    """
    there = [outcome for outcome in outcomes if outcome.path is not None]
    for outcome in there:
        assert outcome.path is not None
        copy(outcome.path, folder, outcome.item.sha256)
        Cache(folder).mark_canonical_id(outcome.item.sha256, outcome.item.canonical_id)
    with contextlib.suppress(OSError):
        (folder / "partial").rmdir()
    manifest = {
        "schema": SCHEMA,
        "targets": sorted(targets),
        "files": [msgspec.to_builtins(outcome.item) for outcome in there],
    }
    path = folder / MANIFEST
    files.write_text(path, json.dumps(manifest, indent=1, sort_keys=True) + "\n")
    return path


def write_lock(folder: Path, lock: Lock, externals: Sequence[External]) -> Path:
    """Write a target's lock with the external archives of its source tree; gives the path."""
    known = {artifact.sha256 for artifact in lock.artifact}
    found = {
        one.sha256: Artifact(
            name=one.name,
            kind="bazel-external",
            version="",
            urls=one.urls,
            sha256=one.sha256,
            source=one.defined_in,
        )
        for one in externals
        if one.sha256 not in known
    }
    artifacts = [*lock.artifact, *sorted(found.values(), key=lambda one: (one.name, one.sha256))]
    path = folder / f"{lock.target}.lock.toml"
    files.write_text(path, dumps(msgspec.structs.replace(lock, artifact=artifacts)))
    return path


def copy(source: Path, root: Path, sha256: str) -> bool:
    """Copy a file into a cache or folder if its hash is right; whether it was."""
    there = content_path(root, sha256)
    if there.is_file() and files.sha256_file(there) == sha256:
        return True
    part = root / "partial" / f"{sha256}.copy"
    try:
        part.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, part)
        if files.sha256_file(part) != sha256:
            part.unlink()
            return False
        there.parent.mkdir(parents=True, exist_ok=True)
        part.replace(there)
    except OSError as error:
        raise cannot_write(part, error) from error
    return True


def read(folder: Path, items: Iterable[Item], cache: Cache) -> tuple[list[Outcome], list[Item]]:
    """Take from `folder` what it has of `items` into the cache.

    Returns:
        What is in the cache now, and the items that neither of the two has.

    Raises:
        UsageError: there is no such folder.
        DownloadError: the cache cannot be written.
    """
    if not folder.is_dir():
        raise UsageError(
            f"{folder} is not a folder",
            "--from takes a folder that `tfenv fetch -o` wrote, or any folder of downloads",
            "check the path",
        )
    outcomes: list[Outcome] = []
    missing: list[Item] = []
    loose: dict[str, Path] | None = None
    for item in distinct(items):
        source: Path | None = content_path(folder, item.sha256)
        if not content_path(folder, item.sha256).is_file():
            loose = _by_hash(folder) if loose is None else loose
            source = loose.get(item.sha256)
        found = _take(item, source, cache)
        (outcomes.append(found) if found else missing.append(item))
    return outcomes, missing


def _take(item: Item, source: Path | None, cache: Cache) -> Outcome | None:
    with cache.lock(item.sha256, threading.Event()):
        status: Status = "cached"
        path = cache.find(item.sha256)
        if path is None:
            if source is None or not copy(source, cache.root, item.sha256):
                return None
            status, path = "copied", cache.path(item.sha256)
        cache.mark_canonical_id(item.sha256, item.canonical_id)
    return Outcome(item=item, status=status, path=path)


def _by_hash(folder: Path) -> dict[str, Path]:
    """The files of a folder that tfenv did not lay out, by what they contain."""
    if (folder / MANIFEST).is_file():
        return {}
    return {files.sha256_file(path): path for path in sorted(folder.rglob("*")) if path.is_file()}


def offline(missing: Sequence[Item], folder: Path | None) -> DownloadError:
    """The error of files that are not here while the network may not be used."""
    names = ", ".join(f"{label(item)} (sha256 {item.sha256[:12]}…)" for item in missing)
    return DownloadError(
        f"{len(missing)} files are missing: {names}",
        f"--offline was given, and neither the cache nor {folder or 'a --from folder'} has them",
        "run `tfenv fetch TARGET -o DIR` on a machine with a network, and use --from DIR here",
    )
