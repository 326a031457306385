"""One member of a wheel, directory or image, and what a tree of members can do."""

from __future__ import annotations

import re
import stat
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from tfenv.errors import BadWheelError

MAX_MEMBERS = 200_000
MAX_PATH = 1024  # characters
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_EMPTY_PART = re.compile(r"(?:^|/)\.{0,2}(?:/|$)")


@dataclass(frozen=True, slots=True)
class Entry:
    """One regular file of a tree.

    Attributes:
        path: relative, with forward slashes, checked by `safe_path`.
        size: bytes after decompression, as the container declares it.
        index: position in the container's own order.
        mode: permission bits; 0 where the container stores none.
        mtime: the container's own text for the modification time; empty where none counts.
        crc: CRC-32 as declared, where the container has one.
        packed, offset, method: how a zip stores it.
        described: whether a zip has the sizes after the data as well.
    """

    path: str
    size: int
    index: int
    mode: int = 0
    mtime: str = ""
    crc: int | None = None
    packed: int = 0
    offset: int = 0
    method: int = 0
    described: bool = False
    link: str = ""  # target of a symbolic link, where the container may hold links
    owner: str = ""  # user, group and other attributes that a layer of an image keeps
    raw: int = 0  # checksum of header fields that mean nothing for the content


Wanted = Callable[[Entry], bool]


class Tree(Protocol):
    """A container of members: a wheel, a directory, an image."""

    @property
    def path(self) -> Path: ...

    @property
    def kind(self) -> str: ...

    @property
    def entries(self) -> Mapping[str, Entry]: ...

    def stream(self, wanted: Wanted) -> Iterator[tuple[Entry, Iterator[bytes]]]:
        """The wanted members in storage order, each as chunks that must be used at once."""
        ...

    def close(self) -> None: ...


def read_small(tree: Tree, path: str, limit: int = 64 << 20) -> bytes:
    """The whole content of one member of at most `limit` bytes.

    Raises:
        BadWheelError: no such member, or it is larger.
    """
    entry = tree.entries.get(path)
    if entry is None:
        raise refuse(tree.path.name, f"it has no member {path}")
    if entry.size > limit:
        raise refuse(tree.path.name, f"{path} has {entry.size} bytes, more than any real one")
    for _, chunks in tree.stream(lambda candidate: candidate.path == path):
        return b"".join(chunks)
    return b""


def safe_path(name: str) -> str:
    """Check a member's name and return it.

    Raises:
        ValueError: with the reason, for a name that could leave the folder it is unpacked to,
            or that systems read differently.
    """
    if not name or len(name) > MAX_PATH:
        raise ValueError(f"a member's name has {len(name)} characters")
    if _CONTROL.search(name):
        raise ValueError(f"the name {name!r} holds control characters")
    if "\\" in name or name.startswith("/") or name[1:2] == ":":
        raise ValueError(f"the name {name!r} is absolute or has backslashes")
    if _EMPTY_PART.search(name.removesuffix("/")):
        raise ValueError(f"the name {name!r} has an empty, '.' or '..' part")
    return name


def check_layout(names: Mapping[str, Entry]) -> None:
    """Refuse a tree in which one name is both a file and a folder.

    Raises:
        ValueError: with both names.
    """
    folders: set[str] = set()
    for name in names:
        parent = name.rpartition("/")[0]
        while parent and parent not in folders:
            if parent in names:
                raise ValueError(f"{parent!r} is a file and the folder of {name!r}")
            folders.add(parent)
            parent = parent.rpartition("/")[0]


def special_kind(mode: int) -> str:
    """What a Unix mode says that is not a regular file or folder; empty when it is one."""
    kind = stat.S_IFMT(mode)
    if kind in (0, stat.S_IFREG, stat.S_IFDIR):
        return ""
    return "a symbolic link" if kind == stat.S_IFLNK else "a device, socket or pipe"


def refuse(name: str, why: str) -> BadWheelError:
    """The error for a file that is damaged or hostile."""
    return BadWheelError(
        f"{name} is refused", why, "get the file again from where it was published, or rebuild it"
    )
