"""The lock: every download of a toolchain by hash.

Written and read as `<target>.lock.toml`, format 1. Mirrors never stand here: the canonical URL is
an artifact's identity, and mirrors are applied when files are rendered or fetched.
"""

from __future__ import annotations

from typing import Literal

import msgspec

FORMAT = 1

ArtifactKind = Literal[
    "source",
    "bazel",
    "bazelisk",
    "cuda",
    "cudnn",
    "image",
    "nixpkgs",
    "sdist",
    "conda",
    "cpython",
    "bazel-external",
    "patch",
]


class Value(msgspec.Struct, frozen=True, kw_only=True):
    """One chosen version, with the rule that chose it and where that is known from."""

    value: str
    reason: str
    source: str


class Artifact(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One download.

    Exactly one of `sha256`, `digest`, `nar_hash` or `unpinned` is set.
    """

    name: str
    kind: ArtifactKind
    version: str
    urls: list[str]
    source: str
    size: int = 0  # bytes; 0: not known
    sha256: str = ""
    digest: str = ""  # sha256:... of an image
    nar_hash: str = msgspec.field(default="", name="nar-hash")
    rev: str = ""  # of a nixpkgs revision
    last_modified: int = msgspec.field(default=0, name="last-modified")  # of it, s since the epoch
    file: str = ""  # of a package index, where the address is the user's setting
    formats: list[str] = []  # the formats that use it; empty: all
    unpinned: str = ""  # why no hash is known


class PythonLock(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The Python part: a file of `locks/python` by name and hash."""

    file: str
    sha256: str
    build_file: str = msgspec.field(default="", name="build-file")
    build_sha256: str = msgspec.field(default="", name="build-sha256")


class Lock(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that is downloaded for one target."""

    format: int
    target: str
    as_of: str = msgspec.field(name="as-of")  # YYYY-MM-DD: the state of the index that was resolved
    toolchain: dict[str, Value]
    python: PythonLock | None = None
    artifact: list[Artifact] = []
    formats: dict[str, dict[str, Value]] = msgspec.field(
        name="format-pins", default_factory=dict
    )  # what one format must pin otherwise, and why
