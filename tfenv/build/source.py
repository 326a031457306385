"""The source of a build: the release's archive, or a tree that the user has."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import msgspec

from tfenv import files
from tfenv.errors import BuildError, UsageError
from tfenv.fetch.cache import Cache
from tfenv.lock.model import Artifact, Lock
from tfenv.target import Target

# Where a tree says which release it is, newest layout first.
_VERSION_FILES = ("tensorflow/tf_version.bzl", "tensorflow/tensorflow.bzl")
_VERSION = re.compile(r'^(?:TF_)?VERSION = "([0-9][^"]*)"', re.MULTILINE)


class Source(msgspec.Struct, frozen=True):
    """What is built."""

    kind: Literal["archive", "tree"]
    path: Path  # an archive in the cache, or a folder
    digest: str  # of all that it holds


def archive(lock: Lock) -> Artifact:
    """The release's archive.

    Raises:
        BuildError: its hash is not known, so nothing could tell the right one.
    """
    found = next((one for one in lock.artifact if one.kind == "source"), None)
    if found is None or not found.sha256:
        raise BuildError(
            f"the source of {lock.target} cannot be verified",
            (found.unpinned if found else "") or "no sha256 of the release's archive is known",
            "give a source tree that you trust with --source DIR",
        )
    return found


def from_cache(lock: Lock, cache: Cache) -> Source:
    """The archive, which `fetch` has brought."""
    sha256 = archive(lock).sha256
    return Source("archive", cache.path(sha256), f"sha256:{sha256}")


def from_folder(folder: Path, target: Target) -> Source:
    """A tree, or the tree of this release in a folder that has one per version.

    Raises:
        UsageError: it is no TensorFlow tree, or the tree of another release.
    """
    inside = folder / target.version
    tree = (inside if (inside / "configure").is_file() else folder).absolute()
    if not ((tree / "configure").is_file() and _has_workspace(tree)):
        raise UsageError(
            f"{folder} is not a source tree of TensorFlow",
            f"there is no configure and WORKSPACE in it, nor in {target.version}/ below it",
            "give the folder that holds configure.py",
        )
    version = version_of(tree)
    if version and version != target.version:
        raise UsageError(
            f"{tree} is TensorFlow {version}",
            f"the target is {target.name}",
            f"ask for {version}-{target.variant}, or give another --source",
        )
    return Source("tree", tree, f"tree:{digest(tree)}")


def _has_workspace(tree: Path) -> bool:
    return any((tree / name).is_file() for name in ("WORKSPACE", "WORKSPACE.bazel", "MODULE.bazel"))


def version_of(tree: Path) -> str:
    """The release that a tree says it is, or an empty string."""
    for name in _VERSION_FILES:
        try:
            found = _VERSION.search((tree / name).read_text("utf-8", "replace"))
        except OSError:
            continue
        if found:
            return found[1]
    return ""


def leads_outside(tree: Path) -> bool:
    """Whether a link in the tree points out of it, where a container would not see it."""
    real = tree.resolve()
    for folder, folders, names in os.walk(tree):
        for name in (*folders, *names):
            path = Path(folder) / name
            if path.is_symlink() and not path.resolve().is_relative_to(real):
                return True
    return False


def copy_whole(tree: Path, place: Path) -> Path:
    """A copy of a tree with the files that its links name; gives `place`."""
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(tree, place, ignore=shutil.ignore_patterns(".git"))
    return place


def digest(tree: Path) -> str:
    """A hash of all files of a tree: names, contents, and whether they are programs."""
    total = hashlib.sha256()
    for name, path in sorted(_files(tree)):
        program = "x" if os.access(path, os.X_OK) else "-"
        total.update(f"{name}\0{program}{files.sha256_file(path)}\n".encode())
    return total.hexdigest()


def _files(tree: Path) -> Iterator[tuple[str, Path]]:
    """Files below a tree by their path in it; links are followed, circles are not."""
    open_folders = [(tree, frozenset({tree.resolve()}))]
    while open_folders:
        folder, above = open_folders.pop()
        for path in folder.iterdir():
            if path.is_dir():
                real = path.resolve()
                if path.name != ".git" and real not in above:
                    open_folders.append((path, above | {real}))
            elif path.is_file():
                yield path.relative_to(tree).as_posix(), path
