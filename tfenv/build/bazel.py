"""The Bazel of a build on the host."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import msgspec

from tfenv import files
from tfenv.build import npm
from tfenv.build.probe import version_text
from tfenv.errors import DownloadError, MissingToolError
from tfenv.fetch import stage
from tfenv.fetch.cache import Cache
from tfenv.fetch.item import from_artifacts
from tfenv.lock.model import Lock
from tfenv.target import Target, version_key
from tfenv.toolchain import buildtool

UNNUMBERED = "no_version"  # what a Bazel built from source calls itself (seen in Debian's)


class Bazel(msgspec.Struct, frozen=True):
    """A program and what it says its version is."""

    path: Path
    version: str


def find(target: Target, lock: Lock, cache: Cache, source: stage.Source) -> Bazel:
    """The locked Bazel if it can be had, else one on PATH that the release accepts.

    In this order: the locked binary where it is in the cache already; a Bazel on PATH within the
    release's bounds; the locked binary, downloaded or out of npm's package; a Bazel on PATH that
    does not know its version.

    Raises:
        MissingToolError: none of them.
    """
    locked = next((i for i in from_artifacts(lock.artifact)[0] if i.name == "bazel"), None)
    if locked is not None and cache.path(locked.sha256).is_file():
        (outcome,) = stage.fetch_items([locked], source, cache)
        if outcome.path is not None:
            return Bazel(outcome.path, locked.version)
    installed = list(_on_path(lock.toolchain["bazel"].value))
    for one in installed:
        if _accepted(target, one.version):
            return one
    failure = "the lock has no Bazel for this platform"
    if locked is not None:
        try:
            (outcome,) = stage.fetch_items([locked], source, cache)
        except DownloadError as error:
            failure = error.why
        else:
            assert outcome.path is not None
            return Bazel(outcome.path, locked.version)
        if not source.offline and npm.fetch(locked, cache):
            return Bazel(cache.path(locked.sha256), locked.version)
    for one in installed:
        if one.version == UNNUMBERED:
            return one
    versions = ", ".join(one.version for one in installed) or "none"
    raise MissingToolError(
        f"no Bazel that TensorFlow {target.version} accepts (on PATH: {versions})",
        f"Bazel {lock.toolchain['bazel'].value} could not be downloaded: {failure}",
        "put that Bazel on PATH, or use --engine docker",
    )


def _accepted(target: Target, version: str) -> bool:
    limit = buildtool.bound(target)
    if limit is None or not version[:1].isdigit():
        return False
    low, high = limit.min or limit.file, limit.max or limit.file
    return not (
        (low and version_key(version) < version_key(low))
        or (high and version_key(version) > version_key(high))
    )


def _on_path(wanted: str) -> Iterator[Bazel]:
    """Bazels by the names that distributions give them; the exact ones first, because plain
    `bazel` may be a script that looks for the version that the tree asks for."""
    for name in (f"bazel-{wanted}", f"bazel-{wanted.partition('.')[0]}", "bazel-real", "bazel"):
        path = shutil.which(name)
        if path is not None:
            version = version_of(Path(path))
            if version:
                yield Bazel(Path(path), version)


def version_of(program: Path) -> str:
    """What `bazel --version` says, or an empty string."""
    words = version_text(program).split()
    return words[1] if len(words) > 1 and words[0] == "bazel" else ""


def install(bazel: Bazel, folder: Path) -> Path:
    """Have `folder/bazel` be this Bazel; a file of the cache is copied, because it is no program."""
    place = folder / "bazel"
    folder.mkdir(parents=True, exist_ok=True)
    if os.access(bazel.path, os.X_OK):
        fresh = folder / ".bazel.new"
        fresh.unlink(missing_ok=True)
        fresh.symlink_to(bazel.path)
        fresh.replace(place)
    elif not (place.is_file() and files.sha256_file(place) == files.sha256_file(bazel.path)):
        files.write_bytes(place, bazel.path.read_bytes(), executable=True)
    return place
