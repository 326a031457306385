"""What can be said of a Windows (PE) or macOS (Mach-O) library without its system.

PE is described in Microsoft's "PE Format", Mach-O in Apple's <mach-o/loader.h>.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tfenv.wheel.blob import Blob

_PE_MACHINES = {0x14C: "win32", 0x8664: "amd64", 0xAA64: "arm64"}
_MACH_MACHINES = {0x01000007: "x86_64", 0x0100000C: "arm64", 7: "i386"}
_MAX_LIBRARIES = 4096
_MAX_NAME = 1024


@dataclass(frozen=True, slots=True)
class Portable:
    """One PE file, or one architecture of a Mach-O file.

    Attributes:
        needed: DLL names, or install names of dynamic libraries.
        minimum_os: oldest macOS, e.g. 10.11; empty for PE.
        linker: version of the linker that wrote a PE file.
        sections: (name, offset, size) of each section.
    """

    format: str
    machine: str
    needed: tuple[str, ...]
    rpath: tuple[str, ...] = ()
    minimum_os: str = ""
    linker: str = ""
    sections: tuple[tuple[str, int, int], ...] = ()


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
    sections: list[tuple[str, int, int]] = []
    spans: list[tuple[int, int, int]] = []
    for index in range(count):
        row = blob.read(at + 24 + optional + 40 * index, 40)
        size, address, raw_size, raw = struct.unpack_from("<IIII", row, 8)
        name = row[:8].rstrip(b"\0").decode("latin-1")
        sections.append((name, raw, raw_size))
        spans.append((address, max(size, raw_size), raw))

    def offset(address: int) -> int:
        for start, length, raw in spans:
            if start <= address < start + length:
                return address - start + raw
        raise ValueError(f"address {address:#x} lies in no section")

    directories = 112 if magic == 0x20B else 96
    imports, _ = struct.unpack_from("<II", head, directories + 8)
    return Portable(
        "PE",
        _PE_MACHINES.get(machine, f"machine-{machine}"),
        tuple(_imports(blob, offset, imports)) if imports else (),
        linker=f"{head[2]}.{head[3]}",
        sections=tuple(sections),
    )


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
    sections: list[tuple[str, int, int]] = []
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
        at += length
    machine = _MACH_MACHINES.get(cpu, f"machine-{cpu}")
    return Portable("Mach-O", machine, tuple(needed), tuple(rpath), minimum, "", tuple(sections))


def _mach_sections(body: bytes, base: int) -> list[tuple[str, int, int]]:
    (count,) = struct.unpack_from("<I", body, 64)
    found: list[tuple[str, int, int]] = []
    for index in range(min(count, (len(body) - 72) // 80)):
        name, _, _, size, offset = struct.unpack_from("<16s16sQQI", body, 72 + 80 * index)
        found.append((name.rstrip(b"\0").decode("latin-1"), base + offset, size))
    return found


def _inline(body: bytes) -> str:
    (start,) = struct.unpack_from("<I", body, 8)
    return body[start:].split(b"\0", 1)[0][:_MAX_NAME].decode("utf-8", "replace")


def _os_version(number: int) -> str:
    return f"{number >> 16}.{number >> 8 & 255}"


def _text(blob: Blob, at: int) -> str:
    return blob.near(at, _MAX_NAME).split(b"\0", 1)[0].decode("utf-8", "replace")
