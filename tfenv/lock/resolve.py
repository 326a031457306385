"""Resolve the Python part of a lock with uv, as the index stood at a date.

This module touches the world: it runs uv against the configured index, and reads the metadata of
source distributions to learn what builds them.
"""

from __future__ import annotations

import io
import os
import re
import subprocess
import tarfile
import tempfile
import urllib.request
import zipfile
from pathlib import Path

import msgspec
import tomli

from tfenv.errors import ConflictError, DownloadError, FileFormatError, HashMismatchError
from tfenv.facts import schema
from tfenv.facts.pinned import Pinned, PythonPins, render
from tfenv.files import sha256_bytes

# Before this date the index held no setuptools that can build by PEP 517 (40.8.0 is of February
# 2019), so the tools that build source distributions may be newer than the release.
BUILD_TOOLS_SINCE = "2019-03-01"
BUILD_TOOLS_AS_OF = "2021-12-31"
LEGACY_BUILD_REQUIRES = ("setuptools>=40.8.0", "wheel")
# Settings of uv that belong to the person's own projects, never to tfenv's calls of it.
FOREIGN_VARIABLES = ("UV_CONSTRAINT", "UV_OVERRIDE", "UV_EXCLUDE_NEWER", "UV_PYTHON", "VIRTUAL_ENV")
_MAX_SDIST = 200 * 1024 * 1024
_MAX_TEXT = 1024 * 1024


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be resolved."""

    requirements: tuple[str, ...]
    python: str  # 3.7
    platform: schema.Platform
    as_of: str  # YYYY-MM-DD
    glibc: str = "2.17"  # highest manylinux that a chosen file may need
    constraints: tuple[str, ...] = ()
    newer: tuple[tuple[str, str], ...] = ()  # (package, date): exceptions to as_of
    index: str = ""
    interpreter: str = ""  # of that Python: source distributions are asked for their metadata
    wheels_only: bool = False  # an older version with a wheel before a newer one without


class Resolved(msgspec.Struct, frozen=True):
    """A resolution, and where each of its files lies."""

    pins: PythonPins
    urls: dict[str, str]  # file name -> address at the index that was asked


class Locked(msgspec.Struct, frozen=True):
    """The two files that make a Python lock."""

    text: str
    build_text: str  # empty: no source distribution, nothing to build


def lock(request: Request, title: str, header: dict[str, str]) -> Locked:
    """Resolve `request`, and what builds its source distributions."""
    main = resolve(request)
    build = resolve(build_request(request, main)) if main.pins.sdists else None
    return Locked(
        render(PythonPins(header, main.pins.pins), title),
        render(PythonPins(header, build.pins.pins), f"{title}, build tools") if build else "",
    )


def resolve(request: Request) -> Resolved:
    """Run uv, and keep of each package the one file that fits best.

    Raises:
        ConflictError: no set of versions satisfies the request.
        DownloadError: the index could not be reached.
    """
    with tempfile.TemporaryDirectory() as folder:
        text = _compile(request, Path(folder))
    return _choose_files(tomli.loads(text), request)


def _compile(request: Request, folder: Path) -> str:
    from uv import find_uv_bin

    wanted, bounds, out = folder / "in.txt", folder / "constraints.txt", folder / "pylock.toml"
    wanted.write_text("\n".join(request.requirements) + "\n", encoding="utf-8")
    bounds.write_text("\n".join(request.constraints) + "\n", encoding="utf-8")
    command = [find_uv_bin(), "pip", "compile", "--quiet", "--no-header", "--format", "pylock.toml"]
    command += ["--python-version", request.python, "--python-platform", uv_platform(request)]
    command += ["--exclude-newer", request.as_of, "--constraints", str(bounds)]
    for package, date in request.newer:
        command += ["--exclude-newer-package", f"{package}={date}"]
    if request.interpreter:
        command += ["--python", request.interpreter]
    if request.wheels_only:
        command += ["--only-binary", ":all:"]
    command += ["--output-file", str(out), str(wanted)]
    done = subprocess.run(
        command,
        cwd=folder,
        env=_environment(request),
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    if done.returncode:
        raise _failure(request, done.stderr)
    return out.read_text("utf-8")


def _environment(request: Request) -> dict[str, str]:
    """uv's environment. An index may hold a password: it never becomes an argument."""
    found = dict(os.environ)
    for name in FOREIGN_VARIABLES:
        found.pop(name, None)
    if request.index:
        found["UV_DEFAULT_INDEX"] = request.index
    return found


def _failure(request: Request, stderr: str) -> ConflictError | DownloadError:
    reason = " ".join(line.strip() for line in stderr.splitlines() if line.strip())[-600:]
    wanted = ", ".join(request.requirements)
    if re.search(
        r"error sending request|dns error|timed out|connection|HTTP status", reason, re.IGNORECASE
    ):
        return DownloadError(
            f"the package index did not answer while resolving {wanted}",
            reason,
            "set a reachable index with --index or TFENV_INDEX",
        )
    return ConflictError(
        f"nothing satisfies {wanted} for Python {request.python} as of {request.as_of}",
        reason,
        "choose another Python, or a later date",
    )


def uv_platform(request: Request) -> str:
    """uv's word for a platform and its glibc."""
    machine = "aarch64" if request.platform == "linux-aarch64" else "x86_64"
    if request.platform.startswith("linux"):
        return f"{machine}-manylinux_{'2_17' if _glibc(request) <= (2, 17) else '2_28'}"
    return {
        "macos-x86_64": "x86_64-apple-darwin",
        "macos-arm64": "aarch64-apple-darwin",
        "windows-x86_64": "windows",
    }[request.platform]


def _glibc(request: Request) -> tuple[int, int]:
    major, minor = request.glibc.split(".")[:2]
    return int(major), int(minor)


def _choose_files(pylock: dict[str, object], request: Request) -> Resolved:
    ranks = tag_ranks(request)
    pins: list[Pinned] = []
    urls: dict[str, str] = {}
    for package in pylock.get("packages", []):  # type: ignore[attr-defined]
        pin, url = _best_file(package, ranks)
        pins.append(pin)
        urls[pin.file] = url
    return Resolved(PythonPins({}, tuple(pins)), urls)


def _best_file(package: dict[str, object], ranks: dict[str, int]) -> tuple[Pinned, str]:
    best: tuple[int, dict[str, object]] | None = None
    for wheel in package.get("wheels", []):  # type: ignore[attr-defined]
        rank = file_rank(_file_name(wheel), ranks)
        if rank is not None and (best is None or rank < best[0]):
            best = (rank, wheel)
    chosen = best[1] if best else package.get("sdist")
    if not isinstance(chosen, dict):
        raise ConflictError(
            f"{package['name']} {package['version']} has no file for this platform",
            "neither a wheel that fits nor a source distribution is on the index",
            "choose another Python or platform",
        )
    pin = Pinned(
        str(package["name"]),
        str(package["version"]),
        _file_name(chosen),
        int(chosen.get("size", 0)),
        str(chosen["hashes"]["sha256"]),
    )
    return pin, str(chosen["url"])


def _file_name(entry: dict[str, object]) -> str:
    return str(entry.get("name") or str(entry["url"]).rsplit("/", 1)[-1].replace("%2B", "+"))


def file_rank(file: str, ranks: dict[str, int]) -> int | None:
    """The place of a wheel among the tags that fit, the best first; None: it does not fit."""
    from packaging.utils import InvalidWheelFilename, parse_wheel_filename

    try:
        tags = parse_wheel_filename(file)[3]
    except InvalidWheelFilename:
        return None
    found = [ranks[str(tag)] for tag in tags if str(tag) in ranks]
    return min(found, default=None)


def tag_ranks(request: Request) -> dict[str, int]:
    """Wheel tags that fit, best first (packaging's order)."""
    from packaging import tags

    version = tuple(int(part) for part in request.python.split("."))
    platforms = platform_tags(request)
    abi = f"cp{version[0]}{version[1]}{'m' if version < (3, 8) else ''}"
    order = [
        *tags.cpython_tags(version, abis=[abi], platforms=platforms),
        *tags.compatible_tags(
            version, interpreter=f"cp{version[0]}{version[1]}", platforms=platforms
        ),
    ]
    ranks: dict[str, int] = {}
    for rank, tag in enumerate(order):
        ranks.setdefault(str(tag), rank)
    return ranks


def platform_tags(request: Request) -> list[str]:
    """Platform tags that fit, best first."""
    from packaging import tags

    if request.platform == "windows-x86_64":
        return ["win_amd64"]
    if request.platform == "macos-arm64":
        return list(tags.mac_platforms((14, 0), "arm64"))
    if request.platform == "macos-x86_64":
        return list(tags.mac_platforms((13, 0), "x86_64"))
    machine = "aarch64" if request.platform == "linux-aarch64" else "x86_64"
    legacy = {17: "manylinux2014", 12: "manylinux2010", 5: "manylinux1"}
    found: list[str] = []
    for minor in range(_glibc(request)[1], 4, -1):
        found.append(f"manylinux_2_{minor}_{machine}")
        if minor in legacy:
            found.append(f"{legacy[minor]}_{machine}")
    return [*found, f"linux_{machine}"]


def build_request(request: Request, main: Resolved) -> Request:
    """What must be resolved to build the source distributions of `main`."""
    wanted: dict[str, None] = {}
    for pin in main.pins.sdists:
        for requirement in build_requires(pin, main.urls[pin.file]):
            wanted.setdefault(requirement)
    newer = dict(request.newer)
    if request.as_of < BUILD_TOOLS_SINCE:
        newer |= {"setuptools": BUILD_TOOLS_AS_OF, "wheel": BUILD_TOOLS_AS_OF}
    return msgspec.structs.replace(
        request, requirements=tuple(wanted), constraints=(), newer=tuple(sorted(newer.items()))
    )


def build_requires(pin: Pinned, url: str) -> tuple[str, ...]:
    """The build requirements that a source distribution declares, or PEP 517's default."""
    text = archive_text(pin, download(pin, url), "pyproject.toml")
    if text is None:
        return LEGACY_BUILD_REQUIRES
    try:
        table = tomli.loads(text).get("build-system", {})
    except tomli.TOMLDecodeError as error:
        raise FileFormatError(
            f"pyproject.toml of {pin.file} cannot be read", str(error), "choose another version"
        ) from error
    requires = table.get("requires")
    if not isinstance(requires, list):
        return LEGACY_BUILD_REQUIRES
    return tuple(str(item) for item in requires)


def download(pin: Pinned, url: str) -> bytes:
    """A source archive, held against its sha256.

    Raises:
        DownloadError: it did not come.
        HashMismatchError: it is another file.
    """
    if not url.startswith(("https://", "http://", "file://")):
        raise DownloadError(
            f"cannot download {pin.file}", f"its address is {url[:80]}", "check --index"
        )
    try:
        with urllib.request.urlopen(url, timeout=120) as answer:  # noqa: S310 the scheme is checked
            data: bytes = answer.read(_MAX_SDIST + 1)
    except OSError as error:
        raise DownloadError(f"cannot download {pin.file}", str(error), "try again") from error
    if sha256_bytes(data) != pin.sha256:
        raise HashMismatchError(
            f"{pin.file} is not the file that the index announced",
            f"its sha256 is {sha256_bytes(data)}, announced was {pin.sha256}",
            "check the index or its mirror",
        )
    return data


def archive_text(pin: Pinned, data: bytes, name: str) -> str | None:
    """The text of a file in the top folder of a source archive; None: there is none."""
    stem = re.sub(r"\.(tar\.gz|tar\.bz2|zip)$", "", pin.file)
    member = f"{stem}/{name}"
    if pin.file.endswith(".zip"):
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            if member not in archive.namelist():
                return None
            with archive.open(member) as stream:
                return stream.read(_MAX_TEXT).decode("utf-8")
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        try:
            found = tar.extractfile(member)
        except KeyError:
            return None
        return found.read(_MAX_TEXT).decode("utf-8") if found else None
