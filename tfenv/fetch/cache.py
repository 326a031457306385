"""The cache: files named by their sha256.

The layout is that of Bazel's repository cache, so that the folder can be handed to Bazel as it
is (`--repository_cache`; measured with Bazel 4.2.3):

    content_addressable/sha256/<hash>/file      complete and verified
    content_addressable/sha256/<hash>/id-<h>    empty; h = sha256 of the rule's canonical_id
    partial/<hash>                              what has arrived so far
    locks/<hash>.lock                           held while one process works on that file

A file enters `content_addressable` by a rename, after its hash was found right, so a process
that is killed at any moment leaves either nothing or a whole file there.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

from tfenv import files
from tfenv.errors import StoppedError

_WAIT_SECONDS = 0.2


def default_root() -> Path:
    """`TFENV_CACHE`, else `tfenv` in the user's cache folder."""
    if chosen := os.environ.get("TFENV_CACHE"):
        return Path(chosen).expanduser()
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
        return Path(local) / "tfenv" / "cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "tfenv"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "tfenv"


def content_path(root: Path, sha256: str) -> Path:
    """Where the file of that hash lies below `root`, whether or not it is there."""
    return root / "content_addressable" / "sha256" / sha256 / "file"


class Cache:
    """A folder of verified files."""

    def __init__(self, root: Path | None = None) -> None:
        self.root = (root or default_root()).absolute()

    def path(self, sha256: str) -> Path:
        """Where the file of that hash lies, whether or not it is there."""
        return content_path(self.root, sha256)

    def partial(self, sha256: str) -> Path:
        """Where the bytes that have arrived so far are kept."""
        return self.root / "partial" / sha256

    def find(self, sha256: str) -> Path | None:
        """The file of that hash, its bytes checked just now; a damaged one is removed."""
        path = self.path(sha256)
        try:
            if files.sha256_file(path) == sha256:
                return path
        except FileNotFoundError:
            return None
        path.unlink(missing_ok=True)
        return None

    def adopt(self, verified: Path, sha256: str) -> Path:
        """Move a file into the cache. The caller has checked its hash, under `lock`."""
        path = self.path(sha256)
        path.parent.mkdir(parents=True, exist_ok=True)
        verified.replace(path)
        return path

    def mark_canonical_id(self, sha256: str, canonical_id: str) -> None:
        """Let Bazel's rules that state this `canonical_id` use the file."""
        if canonical_id:
            digest = hashlib.sha256(canonical_id.encode()).hexdigest()
            self.path(sha256).with_name(f"id-{digest}").touch()

    @contextlib.contextmanager
    def lock(self, sha256: str, stop: threading.Event) -> Iterator[None]:
        """Be the only process that works on that file; wait for another one to finish.

        Raises:
            StoppedError: `stop` was set while waiting.
        """
        import filelock

        path = self.root / "locks" / f"{sha256}.lock"
        path.parent.mkdir(parents=True, exist_ok=True)
        held = filelock.FileLock(path)
        while True:
            try:
                held.acquire(timeout=_WAIT_SECONDS, poll_interval=_WAIT_SECONDS / 4)
                break
            except filelock.Timeout:
                if stop.is_set():
                    raise stopped() from None
        try:
            yield
        finally:
            held.release()


def stopped() -> StoppedError:
    """The error of every download that the user interrupted."""
    return StoppedError(
        "the download was stopped",
        "interrupted by the user",
        "run the same command again: what has arrived is kept",
    )
