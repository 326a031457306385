"""Change a wheel: members are copied as they are compressed, RECORD is brought up to date."""

from __future__ import annotations

import base64
import hashlib
import os
import struct
import tempfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

from tfenv.errors import BadWheelError
from tfenv.wheel import contents
from tfenv.wheel.archive import CENTRAL, END, LOCAL, ZipTree, seek_data
from tfenv.wheel.entry import Entry, read_small
from tfenv.wheel.inflate import stored

_LIMIT = 0xFFFFFFFF  # larger wheels than 4 GiB would need ZIP64


def add_member(wheel: Path, out: Path, name: str, data: bytes) -> None:
    """Write `wheel` to `out` with one more file in its `.dist-info` folder.

    The new file and RECORD take the modification time of the old RECORD, so that the same input
    gives the same bytes.

    Raises:
        BadWheelError: the wheel has no RECORD, already has the file, or is larger than 4 GiB.
    """
    with _opened(wheel, ("RECORD",), len(data)) as (tree, folder):
        if f"{folder}{name}" in tree.entries:
            raise _cannot(wheel, f"it has {folder}{name} already")
        new = _changed(tree, folder, name, data)
        _write(tree, wheel, out, new, tree.entries[f"{folder}RECORD"])


def retag(wheel: Path, out: Path, platforms: Iterable[str]) -> None:
    """Write `wheel` to `out` with other platform tags in its WHEEL.

    The changed files take the modification time of the old RECORD, so that the same input gives
    the same bytes. The name of `out` is the caller's business.

    Raises:
        BadWheelError: the wheel has no RECORD or no WHEEL, or is larger than 4 GiB.
    """
    with _opened(wheel, ("RECORD", "WHEEL")) as (tree, folder):
        data = _with_tags(read_small(tree, f"{folder}WHEEL"), sorted(set(platforms)))
        new = _changed(tree, folder, "WHEEL", data)
        _write(tree, wheel, out, new, tree.entries[f"{folder}RECORD"])


@contextmanager
def _opened(wheel: Path, needed: tuple[str, ...], more: int = 0) -> Iterator[tuple[ZipTree, str]]:
    """A wheel that can be changed, and its `.dist-info` folder with the files that are needed.

    `more` is how many bytes it may grow by, beside its tables.
    """
    tree = ZipTree(wheel)
    try:
        folder = contents.dist_info(tree)
        if folder is None or not {f"{folder}{name}" for name in needed} <= tree.entries.keys():
            raise _cannot(wheel, f"it has no {' or no '.join(needed)}")
        if wheel.stat().st_size + more + (1 << 20) > _LIMIT:
            raise _cannot(wheel, "it is larger than 4 GiB")
        yield tree, folder
    finally:
        tree.close()


def _changed(tree: ZipTree, folder: str, name: str, data: bytes) -> dict[str, bytes]:
    """A file that is new or has other content, and RECORD as of it."""
    path, own = f"{folder}{name}", f"{folder}RECORD"
    record = read_small(tree, own)
    if path in tree.entries:
        record = _without(record, path)
    return {path: data, own: _with_line(record, path, data)}


def _with_tags(text: bytes, platforms: list[str]) -> bytes:
    """WHEEL with each of its Python and ABI tags for every platform."""
    lines = text.splitlines()
    old = [line for line in lines if line.startswith(b"Tag:")]
    kinds = dict.fromkeys(line[4:].strip().rpartition(b"-")[0] for line in old)
    new = [b"Tag: %b-%b" % (kind, name.encode()) for kind in kinds for name in platforms]
    at = lines.index(old[0]) if old else len(lines)
    rest = [line for line in lines[at:] if line not in old]
    return b"\n".join(line for line in (*lines[:at], *new, *rest) if line) + b"\n"


def _without(record: bytes, path: str) -> bytes:
    """RECORD without the line of a file."""
    own = f"{path},".encode()
    return b"\n".join(line for line in record.splitlines() if not line.startswith(own)) + b"\n"


def _cannot(wheel: Path, why: str) -> BadWheelError:
    return BadWheelError(f"{wheel.name} cannot be changed", why, "give a wheel as it was built")


def _with_line(record: bytes, path: str, data: bytes) -> bytes:
    """RECORD with a line for the new file, before its own."""
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    line = f"{path},sha256={digest},{len(data)}".encode()
    lines = record.splitlines()
    own = next((i for i, text in enumerate(lines) if text.endswith(b"RECORD,,")), len(lines))
    return b"\n".join([*lines[:own], line, *lines[own:]]) + b"\n"


def _write(tree: ZipTree, wheel: Path, out: Path, new: dict[str, bytes], like: Entry) -> None:
    out.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=out.parent, prefix=f".{out.name}.", suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as stream, wheel.open("rb") as source:
            rows = list(_members(tree, source, stream, new, like))
            start = stream.tell()
            for row in rows:
                stream.write(row)
            size = stream.tell() - start
            stream.write(END.pack(b"PK\x05\x06", 0, 0, len(rows), len(rows), size, start, 0))
        Path(name).chmod(0o644)
        Path(name).replace(out)
    except BaseException:
        with suppress(FileNotFoundError):
            Path(name).unlink()
        raise


def _members(
    tree: ZipTree, source: BinaryIO, out: BinaryIO, new: dict[str, bytes], like: Entry
) -> Iterator[bytes]:
    """Write all members; the rows of the central directory."""
    for entry in sorted(tree.entries.values(), key=lambda item: item.offset):
        if entry.path not in new:
            seek_data(source, entry)
            yield _header(out, entry)
            out.writelines(stored(source, entry.packed))
    for path, data in new.items():
        deflater = zlib.compressobj(9, zlib.DEFLATED, -15)
        packed = deflater.compress(data) + deflater.flush()
        entry = replace(
            like, path=path, size=len(data), packed=len(packed), crc=zlib.crc32(data), method=8
        )
        yield _header(out, entry)
        out.write(packed)


def _header(out: BinaryIO, entry: Entry) -> bytes:
    """Write the local header of a member; its row of the central directory."""
    name = entry.path.encode()
    flags = 0 if name.isascii() else 0x800
    date, time = _dos(entry.mtime)
    offset, crc = out.tell(), entry.crc or 0
    out.write(
        LOCAL.pack(
            b"PK\x03\x04", 20, flags, entry.method, time, date, crc, entry.packed, entry.size,
            len(name), 0,
        )
        + name
    )  # fmt: skip
    unix = 3 << 8 | 20
    mode = (0o100000 | entry.mode) << 16
    row = CENTRAL.pack(
        b"PK\x01\x02", unix, 20, flags, entry.method, time, date, crc, entry.packed, entry.size,
        len(name), 0, 0, 0, 0, mode, offset,
    )  # fmt: skip
    return row + name


def _dos(text: str) -> tuple[int, int]:
    """(date, time) as zip stores them, from an entry's text."""
    try:
        day, clock = text.split(" ")
        year, month, date = (int(part) for part in day.split("-"))
        hour, minute, second = (int(part) for part in clock.split(":"))
        packed = (year - 1980) << 9 | month << 5 | date, hour << 11 | minute << 5 | second // 2
        struct.pack("<HH", *packed)
    except (ValueError, struct.error):
        return 0x21, 0  # 1980-01-01 00:00:00
    return packed
