"""Read a zip whose author is not trusted.

Only what wheels use is accepted: one disk, stored or deflated members, no encryption, no links.
Every name is checked before anything is read, sizes are believed only as upper limits, and
members may not overlap, which is how small bombs of huge size are made.
The format is described in PKWARE's APPNOTE 6.3.
"""

from __future__ import annotations

import hashlib
import struct
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import BinaryIO, NamedTuple

from tfenv.wheel import entry as entries_of
from tfenv.wheel.entry import Entry, Wanted, refuse
from tfenv.wheel.inflate import codec, deflated, stored

MAX_DIRECTORY = 128 << 20  # bytes of central directory
MAX_TOTAL = 8 << 30  # bytes after decompression: the largest TensorFlow wheel has under 3 GiB
BOMB_TOTAL = 256 << 20
BOMB_RATIO = 30  # real TensorFlow wheels are below 5

END = struct.Struct("<4s4H2IH")
_END64_LOCATOR = struct.Struct("<4sIQI")
_END64 = struct.Struct("<4sQ2H2I4Q")
CENTRAL = struct.Struct("<4s6H3I5H2I")
LOCAL = struct.Struct("<4s5H3I2H")
_TOO_LONG = 0xFFFFFFFF
_KEPT = 256  # bytes of extra fields that are remembered rather than read again


class _Directory(NamedTuple):
    members: int
    size: int
    offset: int
    comment: bytes


class ZipTree:
    """The members of a zip file.

    Raises:
        BadWheelError: from the constructor and from `stream`, for a file that is damaged or
            could harm.
    """

    kind = "zip"

    def __init__(self, path: Path) -> None:
        self.path = path
        self._fields: dict[int, bytes] = {}  # extra fields of local headers, by offset, once read
        try:
            self._file: BinaryIO = path.open("rb")
        except OSError as error:
            raise refuse(path.name, f"it cannot be opened: {error.strerror}") from error
        try:
            directory = _find_directory(self._file)
            found, self._folders = _read_directory(self._file, directory)
            self.entries: Mapping[str, Entry] = found
            self.comment, self._start = directory.comment, directory.offset
        except (ValueError, struct.error) as error:
            self._file.close()
            raise refuse(path.name, str(error)) from error
        except BaseException:
            self._file.close()
            raise

    def close(self) -> None:
        self._file.close()

    @property
    def folders(self) -> frozenset[str]:
        """Entries for folders, which some archives have and installers make by themselves."""
        return frozenset(item.path for item in self._folders)

    def hidden(self) -> tuple[int, int]:
        """What lies in the file beside members and directory.

        Returns:
            the number of bytes that belong to no member, and a checksum of the local headers'
            extra fields and of the archive's comment, which no installer reads.

        Raises:
            BadWheelError: a local header is damaged.
        """
        extra = hashlib.sha256(self.comment)
        loose = end = 0
        items = [*self.entries.values(), *self._folders]
        try:
            for item in sorted(items, key=lambda item: item.offset):
                loose += item.offset - end
                fields = self._fields.get(item.offset)
                fields = seek_data(self._file, item) if fields is None else fields
                extra.update(fields)
                start = item.offset + LOCAL.size + len(item.path.encode()) + len(fields)
                end = start + item.packed + (_descriptor(self._file, start, item))
            loose += self._start - end
        except (ValueError, struct.error) as error:
            raise refuse(self.path.name, str(error)) from error
        return max(loose, 0), int.from_bytes(extra.digest()[:8], "big")

    def stream(self, wanted: Wanted) -> Iterator[tuple[Entry, Iterator[bytes]]]:
        """The wanted members in the order of their data, each as chunks to use at once."""
        chosen = [item for item in self.entries.values() if wanted(item)]
        for item in sorted(chosen, key=lambda item: item.offset):
            yield item, self._chunks(item)

    def _chunks(self, item: Entry) -> Iterator[bytes]:
        """Inflate one member; its size and CRC are checked at the end."""
        crc, size, checksum = 0, 0, codec().crc32
        try:
            fields = seek_data(self._file, item)
            if len(fields) <= _KEPT:
                self._fields[item.offset] = fields
            unpack = deflated if item.method else stored
            for chunk in unpack(self._file, item.packed):
                size += len(chunk)
                if size > item.size:
                    raise ValueError(f"{item.path} is larger than the archive says")
                crc = checksum(chunk, crc)
                yield chunk
            if size != item.size:
                raise ValueError(f"{item.path} is smaller than the archive says")
            if crc != item.crc:
                raise ValueError(f"{item.path} does not match its CRC")
        except (ValueError, struct.error) as error:
            raise refuse(self.path.name, f"{error}") from error


def _read_directory(
    stream: BinaryIO, directory: _Directory
) -> tuple[dict[str, Entry], list[Entry]]:
    """The members by name, and the folders."""
    stream.seek(directory.offset)
    data = stream.read(directory.size)
    if len(data) != directory.size:
        raise ValueError("the central directory is cut off")
    found: dict[str, Entry] = {}
    folders: list[Entry] = []
    position = total = packed = 0
    for index in range(directory.members):
        item, position = _read_central(data, position, index)
        if item.path.endswith("/"):
            if item.size:
                raise ValueError(f"the folder {item.path!r} holds data")
            folders.append(item)
            continue
        if item.path in found:
            raise ValueError(f"the name {item.path!r} is there twice")
        found[item.path] = item
        total += item.size
        packed += item.packed
    if position != len(data):
        raise ValueError("the central directory is longer than its entries")
    if total > MAX_TOTAL or (total > BOMB_TOTAL and total > BOMB_RATIO * max(packed, 1)):
        raise ValueError(f"it would unpack {packed} bytes to {total}: a zip bomb")
    if clash := next((f.path for f in folders if f.path.removesuffix("/") in found), None):
        raise ValueError(f"{clash!r} is a file and a folder")
    entries_of.check_layout(found)
    _check_overlap([*found.values(), *folders], directory.offset)
    return found, folders


def _find_directory(stream: BinaryIO) -> _Directory:
    """Where the central directory is, from the record at the end of the file."""
    length = stream.seek(0, 2)
    start = max(0, length - END.size - 0xFFFF)
    stream.seek(start)
    tail = stream.read()
    at = tail.rfind(b"PK\x05\x06")
    if at < 0 or len(tail) - at < END.size:
        raise ValueError("it is not a zip file, or its end is missing")
    _, disk, first, here, count, size, offset, comment = END.unpack_from(tail, at)
    if at + END.size + comment != len(tail):
        raise ValueError("there are bytes after the end of the archive")
    end = start + at
    if count == 0xFFFF or _TOO_LONG in (size, offset):
        disk, first, here, count, size, offset, end = _read_end64(stream, end)
    if disk or first or here != count:
        raise ValueError("it is spread over several disks")
    if offset + size != end:
        raise ValueError("there are bytes before the archive or inside its directory")
    if size > MAX_DIRECTORY or count > entries_of.MAX_MEMBERS:
        raise ValueError(f"it claims {count} members")
    return _Directory(count, size, offset, tail[at + END.size :])


def _read_end64(stream: BinaryIO, end: int) -> tuple[int, int, int, int, int, int, int]:
    at = end - _END64_LOCATOR.size
    if at < 0:
        raise ValueError("its ZIP64 end is missing")
    stream.seek(at)
    magic, _, where, _ = _END64_LOCATOR.unpack(stream.read(_END64_LOCATOR.size))
    if magic != b"PK\x06\x07" or where > at - _END64.size:
        raise ValueError("its ZIP64 end is missing")
    stream.seek(where)
    record = _END64.unpack(stream.read(_END64.size))
    if record[0] != b"PK\x06\x06":
        raise ValueError("its ZIP64 end is damaged")
    disk, first, here, count, size, offset = record[4:10]
    return disk, first, here, count, size, offset, where


def _read_central(data: bytes, position: int, index: int) -> tuple[Entry, int]:
    (
        magic, made, need, flags, method, time, date, crc, packed, size,
        name_length, extra_length, comment_length, disk, internal, external, offset,
    ) = CENTRAL.unpack_from(data, position)  # fmt: skip
    if magic != b"PK\x01\x02":
        raise ValueError("the central directory is damaged")
    start = position + CENTRAL.size
    end = start + name_length + extra_length + comment_length
    if end > len(data):
        raise ValueError("the central directory is cut off")
    try:
        name = entries_of.safe_path(data[start : start + name_length].decode("utf-8"))
    except UnicodeDecodeError as error:
        raise ValueError("a member's name is not UTF-8") from error
    if flags & 0x2041:
        raise ValueError(f"{name} is encrypted")
    if method not in (0, 8):
        raise ValueError(f"{name} is compressed by method {method}, which wheels do not use")
    mode = external >> 16
    if kind := entries_of.special_kind(mode):
        raise ValueError(f"{name} is {kind}")
    extra = data[start + name_length : start + name_length + extra_length]
    size, packed, offset = _long_sizes(extra, size, packed, offset)
    if disk or (method == 0 and size != packed):
        raise ValueError(f"the sizes of {name} contradict each other")
    stamp = (
        f"{(date >> 9) + 1980:04}-{date >> 5 & 15:02}-{date & 31:02} "
        f"{time >> 11:02}:{time >> 5 & 63:02}:{(time & 31) * 2:02}"
    )
    rest = f"{made} {need} {flags} {internal} {external & 0xFFFF}".encode()
    item = Entry(
        name,
        size,
        index,
        mode=mode & 0o7777,
        mtime=stamp,
        crc=crc,
        packed=packed,
        offset=offset,
        method=method,
        described=bool(flags & 8),
        raw=zlib.crc32(data[start + name_length : end], zlib.crc32(rest)),
    )
    return item, end


def _long_sizes(extra: bytes, size: int, packed: int, offset: int) -> tuple[int, int, int]:
    """Replace sizes that did not fit 32 bits by those of the ZIP64 extra field."""
    if _TOO_LONG not in (size, packed, offset):
        return size, packed, offset
    position = 0
    while position + 4 <= len(extra):
        tag, length = struct.unpack_from("<HH", extra, position)
        if tag == 1:
            numbers = iter(struct.unpack_from(f"<{length // 8}Q", extra, position + 4))
            try:
                values = [next(numbers) if v == _TOO_LONG else v for v in (size, packed, offset)]
            except StopIteration:
                raise ValueError("a ZIP64 size is missing") from None
            return values[0], values[1], values[2]
        position += 4 + length
    raise ValueError("a ZIP64 size is missing")


def _check_overlap(found: list[Entry], limit: int) -> None:
    """Refuse members that share bytes of the file."""
    end = 0
    for item in sorted(found, key=lambda item: item.offset):
        if item.offset < end:
            raise ValueError(f"{item.path} overlaps another member: a zip bomb")
        end = item.offset + LOCAL.size + len(item.path.encode()) + item.packed
    if end > limit:
        raise ValueError("a member lies outside the archive")


def _descriptor(stream: BinaryIO, start: int, item: Entry) -> int:
    """The length of the record after a member's data that repeats its CRC and sizes."""
    if not item.described:
        return 0
    stream.seek(start + item.packed)
    signature = 4 if stream.read(4) == b"PK\x07\x08" else 0
    stream.seek(start + item.packed + signature)
    wide = stream.read(20) == struct.pack("<IQQ", item.crc or 0, item.packed, item.size)
    return signature + (20 if wide else 12)


def seek_data(stream: BinaryIO, item: Entry) -> bytes:
    """Go to the data of a member, if its local header agrees with the central directory.

    Returns:
        the extra fields before the data.
    """
    stream.seek(item.offset)
    name = item.path.encode()
    data = stream.read(LOCAL.size + len(name))
    header = LOCAL.unpack_from(data)
    magic, method, name_length, extra_length = header[0], header[3], header[9], header[10]
    if magic != b"PK\x03\x04" or method != item.method:
        raise ValueError(f"the local header of {item.path} is damaged")
    if name_length != len(name) or data[LOCAL.size :] != name:
        raise ValueError(f"the local header of {item.path} has another name")
    return stream.read(extra_length) if extra_length else b""
