"""What can be said of a Windows (PE) or macOS (Mach-O) library without its system.

PE is described in Microsoft's "PE Format", Mach-O in Apple's <mach-o/loader.h>.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

from tfenv.wheel.blob import Blob

_PE_MACHINES = {0x14C: "win32", 0x8664: "amd64", 0xAA64: "arm64"}
_MACH_MACHINES = {0x01000007: "x86_64", 0x0100000C: "arm64", 7: "i386"}
_MAX_LIBRARIES = 4096
_PE_CODE = 0x20000020  # IMAGE_SCN_MEM_EXECUTE, IMAGE_SCN_CNT_CODE
_CODEVIEW = 2  # IMAGE_DEBUG_TYPE_CODEVIEW
_MACH_CODE = 0x80000400  # S_ATTR_PURE_INSTRUCTIONS, S_ATTR_SOME_INSTRUCTIONS
_MACH_EMPTY = (0x1, 0xC, 0x12)  # S_ZEROFILL, S_GB_ZEROFILL, S_THREAD_LOCAL_ZEROFILL
_SUPER_BLOB, _CODE_DIRECTORY, _CMS = 0xFADE0CC0, 0xFADE0C02, 0xFADE0B01
_ADHOC = 0x2  # CS_ADHOC
_MAX_NAME = 1024
_MAX_DEBUG = 64  # entries of a debug directory; linkers write up to six


class Place(NamedTuple):
    """A section: where it lies in the file and in memory, and whether it holds machine code."""

    name: str
    offset: int
    size: int
    address: int = 0
    code: bool = False


class Field(NamedTuple):
    """A stretch of the file that linking anew changes: `pe-timestamp`, `uuid`, `code-signature`."""

    kind: str
    name: str
    offset: int
    size: int


@dataclass(frozen=True, slots=True)
class Portable:
    """One PE file, or one architecture of a Mach-O file.

    Attributes:
        needed: DLL names, or install names of dynamic libraries.
        minimum_os: oldest macOS, e.g. 10.11; empty for PE.
        linker: version of the linker that wrote a PE file.
        sections: those that have bytes in the file.
        fields: what differs between two links of the same objects.
    """

    format: str
    machine: str
    needed: tuple[str, ...]
    rpath: tuple[str, ...] = ()
    minimum_os: str = ""
    linker: str = ""
    sections: tuple[Place, ...] = ()
    fields: tuple[Field, ...] = ()


def parse(kind: str, blob: Blob) -> tuple[Portable, ...]:
    """Read a file that begins as `PE` or as `Mach-O` do.

    Raises:
        ValueError: it is damaged.
    """
    return (parse_pe(blob),) if kind == "PE" else parse_mach(blob)


def parse_pe(blob: Blob) -> Portable:
    """Read a PE file.

    Raises:
        ValueError: it is not one, or is damaged.
    """
    try:
        return _parse_pe(blob)
    except struct.error as error:
        raise ValueError(f"a table of the PE file is cut off: {error}") from error


def _parse_pe(blob: Blob) -> Portable:
    if blob.near(0, 2) != b"MZ":
        raise ValueError("it is not a PE file")
    (at,) = struct.unpack("<I", blob.read(0x3C, 4))
    if blob.near(at, 4) != b"PE\0\0":
        raise ValueError("it is not a PE file")
    machine, count, _, _, _, optional = struct.unpack("<HHIIIH", blob.read(at + 4, 18))
    head = blob.read(at + 24, optional)
    (magic,) = struct.unpack_from("<H", head, 0)
    sections: list[Place] = []
    spans: list[tuple[int, int, int]] = []
    for index in range(count):
        row = blob.read(at + 24 + optional + 40 * index, 40)
        size, address, raw_size, raw = struct.unpack_from("<IIII", row, 8)
        name = row[:8].rstrip(b"\0").decode("latin-1")
        (flags,) = struct.unpack_from("<I", row, 36)
        if raw:
            sections.append(Place(name, raw, raw_size, address, bool(flags & _PE_CODE)))
        spans.append((address, max(size, raw_size), raw))

    def offset(address: int) -> int:
        for start, length, raw in spans:
            if start <= address < start + length:
                return address - start + raw
        raise ValueError(f"address {address:#x} lies in no section")

    directories = 112 if magic == 0x20B else 96
    imports, _ = struct.unpack_from("<II", head, directories + 8)
    fields = [
        Field("pe-timestamp", "time of the link", at + 8, 4),
        Field("pe-timestamp", "checksum", at + 24 + 64, 4),
        *_pe_fields(blob, offset, head[directories:]),
    ]
    return Portable(
        "PE",
        _PE_MACHINES.get(machine, f"machine-{machine}"),
        tuple(_imports(blob, offset, imports)) if imports else (),
        linker=f"{head[2]}.{head[3]}",
        sections=tuple(sections),
        fields=tuple(fields),
    )


def _pe_fields(blob: Blob, offset: Callable[[int], int], directories: bytes) -> Iterator[Field]:
    """Times in the export, resource and debug directories, and the identity of the PDB file."""
    rows = list(struct.iter_unpack("<II", directories[: len(directories) // 8 * 8]))
    with suppress(ValueError, struct.error):
        for index, name in ((0, "exports"), (2, "resources")):
            if index < len(rows) and rows[index][0]:
                yield Field("pe-timestamp", f"time in {name}", offset(rows[index][0]) + 4, 4)
        if len(rows) <= 6 or not rows[6][0]:
            return
        start = offset(rows[6][0])
        for number in range(min(rows[6][1] // 28, _MAX_DEBUG)):
            entry = start + 28 * number
            kind, _, _, raw = struct.unpack("<4I", blob.read(entry + 12, 16))
            yield Field("pe-timestamp", "time in the debug directory", entry + 4, 4)
            if kind == _CODEVIEW and blob.near(raw, 4) == b"RSDS":
                yield Field("uuid", "identity of the PDB file", raw + 4, 20)


def _imports(blob: Blob, offset: Callable[[int], int], table: int) -> Iterator[str]:
    at = offset(table)
    for _ in range(_MAX_LIBRARIES):
        row = struct.unpack("<5I", blob.read(at, 20))
        if not row[3]:
            return
        yield _text(blob, offset(row[3]))
        at += 20


def parse_mach(blob: Blob) -> tuple[Portable, ...]:
    """Read a Mach-O file: one result per architecture.

    Raises:
        ValueError: it is not one, or is damaged.
    """
    try:
        magic = blob.near(0, 4)
        if magic in (b"\xca\xfe\xba\xbe", b"\xca\xfe\xba\xbf"):
            return tuple(_thin(blob, start) for start in _slices(blob, magic[3] == 0xBF))
        return (_thin(blob, 0),)
    except struct.error as error:
        raise ValueError(f"a table of the Mach-O file is cut off: {error}") from error


def _slices(blob: Blob, wide: bool) -> list[int]:
    (count,) = struct.unpack(">I", blob.read(4, 4))
    if count > 16:
        raise ValueError("it is not a Mach-O file")
    row = struct.Struct(">IIQQII" if wide else ">IIIII")
    return [row.unpack(blob.read(8 + row.size * i, row.size))[2] for i in range(count)]


def _thin(blob: Blob, base: int) -> Portable:
    magic = blob.near(base, 4)
    if magic not in (b"\xcf\xfa\xed\xfe", b"\xce\xfa\xed\xfe"):
        raise ValueError("it is not a Mach-O file")
    header = 32 if magic[0] == 0xCF else 28
    cpu, _, _, count, size, _ = struct.unpack("<6I", blob.read(base + 4, 24))
    commands = blob.read(base + header, min(size, 1 << 22))
    needed: list[str] = []
    rpath: list[str] = []
    sections: list[Place] = []
    fields: list[Field] = []
    minimum = ""
    at = 0
    for _ in range(count):
        kind, length = struct.unpack_from("<II", commands, at)
        if length < 8 or at + length > len(commands):
            raise ValueError("a load command reaches outside the file")
        body = commands[at : at + length]
        if kind in (0xC, 0x18 | 0x80000000, 0x1F | 0x80000000):  # LOAD_DYLIB, WEAK, REEXPORT
            needed.append(_inline(body))
        elif kind == 0x1C | 0x80000000:  # RPATH
            rpath.append(_inline(body))
        elif kind == 0x24:  # VERSION_MIN_MACOSX
            minimum = _os_version(struct.unpack_from("<I", body, 8)[0])
        elif kind == 0x32:  # BUILD_VERSION
            minimum = _os_version(struct.unpack_from("<I", body, 12)[0])
        elif kind == 0x19:  # SEGMENT_64
            sections += _mach_sections(body, base)
        elif kind == 0x1B:  # UUID
            fields.append(Field("uuid", "LC_UUID", base + header + at + 8, 16))
        elif kind == 0x1D:  # CODE_SIGNATURE
            where, length_ = struct.unpack_from("<II", body, 8)
            if _adhoc(blob, base + where, length_):
                name = "signature without an identity"
                fields.append(Field("code-signature", name, base + where, length_))
        at += length
    machine = _MACH_MACHINES.get(cpu, f"machine-{cpu}")
    return Portable(
        "Mach-O",
        machine,
        tuple(needed),
        tuple(rpath),
        minimum,
        "",
        tuple(sections),
        tuple(fields),
    )


def _mach_sections(body: bytes, base: int) -> list[Place]:
    """The sections of a segment that have bytes in the file; the segment, where it has none."""
    title, _, _, start, length = struct.unpack_from("<16s4Q", body, 8)
    (count,) = struct.unpack_from("<I", body, 64)
    if not count and length:
        return [Place(_padded(title), base + start, length)]
    found: list[Place] = []
    for index in range(min(count, (len(body) - 72) // 80)):
        row = struct.unpack_from("<16s16sQQ8I", body, 72 + 80 * index)
        name, address, size, offset, flags = row[0], row[2], row[3], row[4], row[8]
        if flags & 0xFF not in _MACH_EMPTY:
            code = bool(flags & _MACH_CODE)
            found.append(Place(_padded(name), base + offset, size, address, code))
    return found


def _padded(name: bytes) -> str:
    return name.rstrip(b"\0").decode("latin-1")


def _adhoc(blob: Blob, at: int, size: int) -> bool:
    """Whether a code signature names nobody: hashes of the file's own pages, made by the linker."""
    data = blob.near(at, min(size, 1 << 16))
    try:
        magic, _, count = struct.unpack_from(">3I", data, 0)
        starts = [struct.unpack_from(">2I", data, 12 + 8 * i)[1] for i in range(min(count, 16))]
        parts = [(*struct.unpack_from(">2I", data, start), start) for start in starts]
        directories = [start for kind, _, start in parts if kind == _CODE_DIRECTORY]
        flags = [struct.unpack_from(">I", data, start + 12)[0] for start in directories]
    except struct.error:
        return False
    signed = any(kind == _CMS and length > 8 for kind, length, _ in parts)
    return magic == _SUPER_BLOB and bool(flags) and not signed and all(f & _ADHOC for f in flags)


def _inline(body: bytes) -> str:
    (start,) = struct.unpack_from("<I", body, 8)
    return body[start:].split(b"\0", 1)[0][:_MAX_NAME].decode("utf-8", "replace")


def _os_version(number: int) -> str:
    return f"{number >> 16}.{number >> 8 & 255}"


def _text(blob: Blob, at: int) -> str:
    return blob.near(at, _MAX_NAME).split(b"\0", 1)[0].decode("utf-8", "replace")
