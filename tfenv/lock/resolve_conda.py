"""Solve a conda environment against a channel or mirror, and keep every build's hash.

The solver is py-rattler, in this process: no conda executable is needed. It may solve for
another system than this one; virtual packages then say what that system has (`__glibc`, `__cuda`).
"""

from __future__ import annotations

import asyncio
import datetime
import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from urllib.request import url2pathname

import msgspec

from tfenv.errors import ConflictError, DownloadError, HashMismatchError, MissingExtraError

if TYPE_CHECKING:
    import rattler

SOLVE_SECONDS = 300

# What a solved environment may count on, by conda's name of the system.
VIRTUAL: dict[str, dict[str, str]] = {
    "linux-64": {"__unix": "0", "__linux": "4.18", "__glibc": "2.17"},
    "linux-aarch64": {"__unix": "0", "__linux": "4.18", "__glibc": "2.17"},
    "osx-64": {"__unix": "0", "__osx": "10.15"},
    "osx-arm64": {"__unix": "0", "__osx": "11.0"},
    "win-64": {"__win": "0"},
}


class CondaBuild(msgspec.Struct, frozen=True, kw_only=True):
    """One solved package."""

    name: str
    version: str
    build: str
    subdir: str
    url: str
    sha256: str  # empty: the channel does not state it
    md5: str = ""
    size: int = 0


def solve(
    specs: Sequence[str],
    channels: Sequence[str],
    subdir: str,
    virtual: Mapping[str, str],
) -> tuple[CondaBuild, ...]:
    """The builds that satisfy `specs`, sorted by name.

    Args:
        specs: conda match specifications, `cudnn 8.1.*`.
        channels: URLs of channels, the preferred one first.
        subdir: conda's name of the system, `linux-64`; `noarch` is always searched too.
        virtual: versions of virtual packages, `{"__cuda": "11.2"}`; these add to `VIRTUAL`.

    Raises:
        ConflictError: no set of builds satisfies them; `why` carries the solver's reason.
        DownloadError: a channel cannot be read.
        HashMismatchError: a package of a `file://` channel is not what its index says.
        MissingExtraError: py-rattler is not installed.
    """
    try:
        from rattler.exceptions import GatewayError, InvalidMatchSpecError, SolverError
    except ImportError as error:
        raise MissingExtraError("conda", "py-rattler") from error
    try:
        records = asyncio.run(_solve(specs, channels, subdir, virtual))
    except SolverError as error:
        raise ConflictError(
            f"no conda environment for {subdir} satisfies {', '.join(specs)}",
            str(error),
            "choose another CUDA or Python, or add a channel that has these packages",
        ) from error
    except InvalidMatchSpecError as error:
        raise ConflictError(
            "a conda specification cannot be read", str(error), "see `name version build`"
        ) from error
    except GatewayError as error:
        raise DownloadError(
            "a conda channel cannot be read",
            str(error),
            "check the channel's address, or choose a mirror with --mirror",
        ) from error
    builds = tuple(sorted((_build(record) for record in records), key=lambda one: one.name))
    for build in builds:
        _check_local(build)
    return builds


def solve_somewhere(
    specs: Sequence[str],
    places: Sequence[Sequence[str]],
    subdir: str,
    virtual: Mapping[str, str],
) -> tuple[list[str], tuple[CondaBuild, ...]]:
    """`solve` at the first place whose channels can be read: a mirror, then the channel's own.

    Returns:
        The channels that were taken, and the builds.

    Raises:
        DownloadError: no place can be read; it is about the last one.
        ConflictError, HashMismatchError, MissingExtraError: as `solve`, at the place that was read.
    """
    *before, last = places
    for channels in before:
        try:
            return list(channels), solve(specs, channels, subdir, virtual)
        except DownloadError:
            continue
    return list(last), solve(specs, last, subdir, virtual)


async def _solve(
    specs: Sequence[str], channels: Sequence[str], subdir: str, virtual: Mapping[str, str]
) -> list[rattler.RepoDataRecord]:
    import rattler

    present = {**VIRTUAL.get(subdir, {}), **virtual}
    return await rattler.solve(
        sources=[rattler.Channel(channel) for channel in channels],
        specs=list(specs),
        platforms=[subdir, "noarch"],  # type: ignore[list-item]  # a name from our own table
        virtual_packages=[
            rattler.GenericVirtualPackage(
                rattler.PackageName(name), rattler.Version(version), rattler.BuildString("0")
            )
            for name, version in present.items()
        ],
        timeout=datetime.timedelta(seconds=SOLVE_SECONDS),
    )


def _build(record: rattler.RepoDataRecord) -> CondaBuild:
    return CondaBuild(
        name=record.name.normalized,
        version=str(record.version),
        build=str(record.build),
        subdir=str(record.subdir),
        url=record.url,
        sha256=record.sha256.hex() if record.sha256 else "",
        md5=record.md5.hex() if record.md5 else "",
        size=record.size or 0,
    )


def _check_local(build: CondaBuild) -> None:
    """py-rattler takes a file of a `file://` channel as it is, so its hash is checked here."""
    place = urlsplit(build.url)
    if place.scheme != "file":
        return
    path = Path(url2pathname(place.path))
    data = path.read_bytes() if path.is_file() else b""
    for name, expected in (("sha256", build.sha256), ("md5", build.md5)):
        if expected and hashlib.new(name, data, usedforsecurity=False).hexdigest() != expected:
            raise HashMismatchError(
                f"{path.name} is not the package that its channel names",
                f"its {name} is not {expected}",
                "fetch the package anew; do not use this file",
            )


def explicit(builds: Sequence[CondaBuild]) -> str:
    """An explicit lock as conda, mamba and micromamba read it: one URL with its hash per line."""
    lines = ["@EXPLICIT"]
    for build in builds:
        digest = f"sha256:{build.sha256}" if build.sha256 else build.md5
        lines.append(f"{build.url}#{digest}" if digest else build.url)
    return "\n".join(lines) + "\n"
