"""A package index's page of one distribution: the simple index in JSON (PEP 691, PEP 700)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

import msgspec
from packaging.version import InvalidVersion, Version

from tfenv.errors import FileFormatError

_WHEEL = re.compile(
    r"(?P<name>[A-Za-z0-9_.]+)-(?P<version>[A-Za-z0-9_.!+]+)"
    r"-(?P<python>[a-z0-9_.]+)-(?P<abi>[a-z0-9_.]+)-(?P<tag>[A-Za-z0-9_.]+)\.whl"
)


class File(msgspec.Struct, frozen=True, rename="kebab"):
    """One file of a page."""

    filename: str
    url: str
    size: int  # bytes
    upload_time: str
    hashes: dict[str, str] = {}
    yanked: bool | str = False
    requires_python: str | None = None

    @property
    def sha256(self) -> str:
        """The announced sha256, or an empty string."""
        text = self.hashes.get("sha256", "")
        return text if re.fullmatch(r"[0-9a-f]{64}", text) else ""


class WheelName(msgspec.Struct, frozen=True):
    """What the name of a wheel says."""

    distribution: str  # normalised
    version: Version
    python: str  # cp313, py3
    platform: str  # manylinux_2_27_x86_64


class _Page(msgspec.Struct, frozen=True):
    files: list[File]


def read(distribution: str, document: bytes) -> tuple[File, ...]:
    """The files of a page.

    Raises:
        FileFormatError: the document is not such a page.
    """
    try:
        return tuple(msgspec.json.decode(document, type=_Page).files)
    except msgspec.DecodeError as error:
        raise FileFormatError(
            f"the index's list of {distribution} cannot be read",
            str(error),
            "use an index that gives size and upload time (PEP 700)",
        ) from error


def wheel_name(file: File) -> WheelName | None:
    """A wheel's name taken apart; None for any other file."""
    found = _WHEEL.fullmatch(file.filename)
    if found is None:
        return None
    try:
        version = Version(found["version"])
    except InvalidVersion:
        return None
    name = re.sub(r"[-_.]+", "-", found["name"]).lower()
    return WheelName(name, version, found["python"], found["tag"])


def newest(
    files: Iterable[File], fits: Callable[[WheelName, File], bool] = lambda _, __: True
) -> tuple[Version, File] | None:
    """The newest final wheel that fits and was not yanked; None: there is none."""
    found = []
    for file in files:
        name = wheel_name(file)
        if name is not None and final(name.version) and not file.yanked and fits(name, file):
            found.append((name.version, file))
    return max(found, key=lambda item: item[0], default=None)


def final(version: Version) -> bool:
    """Whether it is a final or post release, and not somebody's own build."""
    return not version.is_prerelease and version.local is None
