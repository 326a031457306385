"""Read an ELF file's tables with bounds on everything (System V ABI, gABI 4.1; GNU extensions).

What a loader uses is read through the program headers; section headers only name things, since
they may be missing or wrong in a file that runs.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from tfenv.wheel.blob import Blob

MAGIC = b"\x7fELF"
MACHINES = {3: "i686", 20: "ppc", 21: "ppc64", 22: "s390x", 40: "armv7l", 62: "x86_64"} | {
    183: "aarch64",
    243: "riscv64",
}
_LIMIT = 1 << 20  # entries of any table that is read one by one
_MAX_NAME = 65_536
_USUAL_NAME = 256
_MAX_STRINGS = 64 << 20  # bytes of names that are looked up one by one
_MAX_SYMBOL_NAMES = 512 << 20  # bytes of names of one symbol table

PT_LOAD, PT_DYNAMIC, PT_NOTE = 1, 2, 4
PT_GNU_STACK, PT_GNU_PROPERTY = 0x6474E551, 0x6474E553
SHT_SYMTAB, SHT_NOBITS, SHT_DYNSYM = 2, 8, 11
_DT_NEEDED, _DT_STRTAB, _DT_STRSZ, _DT_SONAME, _DT_RPATH, _DT_RUNPATH = 1, 5, 10, 14, 15, 29
_DT_VERNEED, _DT_VERNEEDNUM = 0x6FFFFFFE, 0x6FFFFFFF
_ISA_NEEDED = 0xC0008002  # GNU_PROPERTY_X86_ISA_1_NEEDED
_ISA_LEVELS = ((8, "x86-64-v4"), (4, "x86-64-v3"), (2, "x86-64-v2"), (1, "x86-64"))


class Segment(NamedTuple):
    kind: int
    flags: int
    offset: int
    address: int
    size: int


class Section(NamedTuple):
    name: str
    kind: int
    flags: int
    address: int
    offset: int
    size: int
    link: int
    item_size: int


class Symbol(NamedTuple):
    name: str
    address: int
    size: int
    defined: bool


@dataclass(frozen=True, slots=True)
class Elf:
    """What the tables of one ELF file say.

    Attributes:
        machine: as in wheel tags; `machine-<n>` where there is no such name.
        versions: version names that the loader will demand, by library (from .gnu.version_r).
        isa_needed: x86-64 level that the file itself demands; empty where it says nothing.
    """

    bits: int
    little: bool
    machine: str
    segments: tuple[Segment, ...]
    sections: tuple[Section, ...]
    needed: tuple[str, ...] = ()
    rpath: tuple[str, ...] = ()
    soname: str = ""
    versions: dict[str, tuple[str, ...]] = field(default_factory=dict)
    build_id: str = ""
    isa_needed: str = ""
    comments: tuple[str, ...] = ()

    @property
    def executable_stack(self) -> bool:
        """Whether the program header asks for one; a missing header is not counted."""
        return any(s.kind == PT_GNU_STACK and s.flags & 1 for s in self.segments)

    @property
    def writable_code(self) -> bool:
        return any(s.kind == PT_LOAD and s.flags & 3 == 3 for s in self.segments)

    def section(self, name: str) -> Section | None:
        return next((s for s in self.sections if s.name == name), None)

    def offset_of(self, address: int) -> int:
        """Where an address lies in the file.

        Raises:
            ValueError: in no loaded segment.
        """
        for segment in self.segments:
            if segment.kind == PT_LOAD and 0 <= address - segment.address < segment.size:
                return address - segment.address + segment.offset
        raise ValueError(f"address {address:#x} lies in no segment")


class _Layout(NamedTuple):
    """How one class and byte order stores its tables."""

    header: struct.Struct
    segment: struct.Struct
    section: struct.Struct
    dynamic: struct.Struct
    symbol: struct.Struct
    order: str


def _layout(bits: int, little: bool) -> _Layout:
    o = "<" if little else ">"
    if bits == 64:
        formats = ("HHIQQQIHHHHHH", "IIQQQQQQ", "IIQQQQIIQQ", "qQ", "IBBHQQ")
    else:
        formats = ("HHIIIIIHHHHHH", "IIIIIIII", "IIIIIIIIII", "iI", "IIIBBH")
    header, segment, section, dynamic, symbol = (struct.Struct(o + f) for f in formats)
    return _Layout(header, segment, section, dynamic, symbol, o)


def parse(blob: Blob) -> Elf:
    """Read the tables of an ELF file.

    Raises:
        ValueError: it is not one, is damaged, or its tables point outside it.
    """
    try:
        return _parse(blob)
    except struct.error as error:
        raise ValueError(f"a table of the ELF file is cut off: {error}") from error


def _parse(blob: Blob) -> Elf:
    ident = blob.near(0, 16)
    if len(ident) < 16 or ident[:4] != MAGIC or ident[4] not in (1, 2) or ident[5] not in (1, 2):
        raise ValueError("it is not an ELF file")
    bits, little = 32 * ident[4], ident[5] == 1
    lay = _layout(bits, little)
    head = lay.header.unpack(blob.read(16, lay.header.size))
    machine, program_at, section_at = head[1], head[4], head[5]
    program_size, program_count, section_size, section_count, names = head[8:13]
    segments = tuple(_segments(blob, lay, bits, program_at, program_size, program_count))
    sections = _sections(blob, lay, section_at, section_size, section_count, names)
    elf = Elf(bits, little, MACHINES.get(machine, f"machine-{machine}"), segments, sections)
    dynamic = _dynamic(blob, lay, elf)
    strings = _Strings(blob, elf, dynamic)
    notes = list(_notes(blob, lay, elf))
    return Elf(
        bits,
        little,
        elf.machine,
        segments,
        sections,
        needed=tuple(strings.at(v) for tag, v in dynamic if tag == _DT_NEEDED),
        rpath=tuple(
            part
            for tag, v in dynamic
            if tag in (_DT_RPATH, _DT_RUNPATH)
            for part in strings.at(v).split(":")
        ),
        soname=next((strings.at(v) for tag, v in dynamic if tag == _DT_SONAME), ""),
        versions=_versions(blob, lay, elf, dict(dynamic), strings),
        build_id=next((d.hex() for name, kind, d in notes if (name, kind) == (b"GNU", 3)), ""),
        isa_needed=_isa(lay, bits, notes),
        comments=_comments(blob, elf),
    )


def _segments(
    blob: Blob, lay: _Layout, bits: int, at: int, size: int, count: int
) -> Iterator[Segment]:
    if count and size < lay.segment.size:
        raise ValueError("its program headers are too small")
    for index in range(count):
        row = lay.segment.unpack(blob.read(at + index * size, lay.segment.size))
        if bits == 64:
            kind, flags, offset, address, _, length = row[:6]
        else:
            kind, offset, address, _, length, _, flags = row[:7]
        yield Segment(kind, flags, offset, address, length)


def _sections(
    blob: Blob, lay: _Layout, at: int, size: int, count: int, names: int
) -> tuple[Section, ...]:
    if not at:
        return ()
    if size < lay.section.size:
        raise ValueError("its section headers are too small")
    if count == 0 or names == 0xFFFF:  # more than fit 16 bits: the first header holds them
        first = lay.section.unpack(blob.read(at, lay.section.size))
        count = count or first[5]
        names = first[6] if names == 0xFFFF else names
    if count > _LIMIT:
        raise ValueError(f"it claims {count} sections")
    rows = [lay.section.unpack(blob.read(at + i * size, lay.section.size)) for i in range(count)]
    if not 0 <= names < len(rows):
        return ()
    table = blob.near(rows[names][4], min(rows[names][5], _LIMIT * 16))
    return tuple(
        Section(_string(table, r[0]), r[1], r[2], r[3], r[4], r[5], r[6], r[9]) for r in rows
    )


def _dynamic(blob: Blob, lay: _Layout, elf: Elf) -> list[tuple[int, int]]:
    segment = next((s for s in elf.segments if s.kind == PT_DYNAMIC), None)
    if segment is None:
        return []
    count = min(segment.size // lay.dynamic.size, _LIMIT)
    found: list[tuple[int, int]] = []
    for tag, value in lay.dynamic.iter_unpack(blob.read(segment.offset, count * lay.dynamic.size)):
        if tag == 0:
            break
        found.append((tag, value))
    return found


class _Strings:
    """The dynamic string table, read piece by piece: TensorFlow's has tens of megabytes."""

    def __init__(self, blob: Blob, elf: Elf, dynamic: list[tuple[int, int]]) -> None:
        table = dict(dynamic)
        self._blob = blob
        self._budget = _MAX_STRINGS
        self._size = table.get(_DT_STRSZ, 0)
        self._start = elf.offset_of(table[_DT_STRTAB]) if _DT_STRTAB in table else 0

    def at(self, index: int) -> str:
        if not 0 <= index < self._size:
            raise ValueError("a name lies outside its string table")
        data = self._blob.near(self._start + index, min(self._size - index, _USUAL_NAME))
        if b"\0" not in data:
            data = self._blob.near(self._start + index, min(self._size - index, _MAX_NAME))
        self._budget -= len(data)
        if self._budget < 0:
            raise ValueError("its tables name more than any real file does")
        return _string(data, 0)


def _string(data: bytes, start: int) -> str:
    end = data.find(b"\0", start, start + _MAX_NAME)
    return data[start : end if end >= 0 else start + _MAX_NAME].decode("utf-8", "replace")


def _versions(
    blob: Blob, lay: _Layout, elf: Elf, dynamic: dict[int, int], strings: _Strings
) -> dict[str, tuple[str, ...]]:
    """Version names needed, by library. The linker lists only those that a symbol uses."""
    if _DT_VERNEED not in dynamic:
        return {}
    record, detail = struct.Struct(lay.order + "HHIII"), struct.Struct(lay.order + "IHHII")
    found: dict[str, tuple[str, ...]] = {}
    at = elf.offset_of(dynamic[_DT_VERNEED])
    budget = _LIMIT
    for _ in range(min(dynamic.get(_DT_VERNEEDNUM, 0), 65_536)):
        _, count, file, first, following = record.unpack(blob.read(at, record.size))
        names: list[str] = []
        where = at + first
        for _ in range(count):
            _, _, _, name, step = detail.unpack(blob.read(where, detail.size))
            names.append(strings.at(name))
            where += step
            budget -= 1
            if not step or budget < 0:
                break
        library = strings.at(file)
        found[library] = tuple(sorted({*found.get(library, ()), *names}))
        at += following
        if not following or budget < 0:
            break
    return found


def _notes(blob: Blob, lay: _Layout, elf: Elf) -> Iterator[tuple[bytes, int, bytes]]:
    """(owner, type, content) of every note in the note segments."""
    head = struct.Struct(lay.order + "III")
    for segment in elf.segments:
        if segment.kind not in (PT_NOTE, PT_GNU_PROPERTY):
            continue
        align = 8 if segment.kind == PT_GNU_PROPERTY and elf.bits == 64 else 4
        data = blob.near(segment.offset, min(segment.size, _LIMIT))
        at = 0
        while at + head.size <= len(data):
            name_size, size, kind = head.unpack_from(data, at)
            at += head.size
            name = data[at : at + name_size].rstrip(b"\0")
            at += -(-name_size // 4) * 4
            yield name, kind, data[at : at + size]
            at += -(-size // align) * align


def _isa(lay: _Layout, bits: int, notes: list[tuple[bytes, int, bytes]]) -> str:
    """The highest x86-64 level that the GNU property note calls needed."""
    pad = bits // 8
    for name, kind, data in notes:
        at = 0
        while (name, kind) == (b"GNU", 5) and at + 12 <= len(data):
            tag, size, value = struct.unpack_from(lay.order + "III", data, at)
            if tag == _ISA_NEEDED:
                return next((level for bit, level in _ISA_LEVELS if value & bit), "")
            at += 8 + -(-size // pad) * pad
    return ""


def _comments(blob: Blob, elf: Elf) -> tuple[str, ...]:
    section = elf.section(".comment")
    if section is None or section.kind == SHT_NOBITS:
        return ()
    data = blob.near(section.offset, min(section.size, _MAX_NAME))
    return tuple(dict.fromkeys(c.decode("utf-8", "replace") for c in data.split(b"\0") if c))


class RawSymbol(NamedTuple):
    """A symbol whose name has not been looked up: `name` is an offset for `symbol_name`."""

    name: int
    address: int
    size: int
    defined: bool


def raw_symbols(blob: Blob, elf: Elf, table: str = ".dynsym") -> Iterator[RawSymbol]:
    """The symbols of `.dynsym` or `.symtab`, read piece by piece; at most a million.

    Raises:
        ValueError: the table points outside the file.
    """
    section = elf.section(table)
    if section is None or section.kind not in (SHT_SYMTAB, SHT_DYNSYM):
        return
    row = _layout(elf.bits, elf.little).symbol
    end = section.offset + min(section.size // row.size, _LIMIT) * row.size
    step = 4096 * row.size
    for at in range(section.offset, end, step):
        for item in row.iter_unpack(blob.read(at, min(step, end - at))):
            if elf.bits == 64:
                name, _, _, index, address, size = item
            else:
                name, address, size, _, _, index = item
            yield RawSymbol(name, address, size, index != 0)


def symbol_name(blob: Blob, elf: Elf, table: str, name: int) -> str:
    """The name of a symbol; empty where the table has no names."""
    strings = _strings_of(elf, table)
    if strings is None or not 0 <= name < strings.size:
        return ""
    data = blob.near(strings.offset + name, min(strings.size - name, _MAX_NAME))
    return _string(data, 0)


def symbols(blob: Blob, elf: Elf, table: str = ".dynsym") -> Iterator[Symbol]:
    """As `raw_symbols`, with names; for tables of moderate size.

    Raises:
        ValueError: the table points outside the file.
    """
    strings = _strings_of(elf, table)
    if strings is None:
        return
    data = blob.near(strings.offset, min(strings.size, 256 << 20))
    budget = _MAX_SYMBOL_NAMES
    for item in raw_symbols(blob, elf, table):
        name = _string(data, item.name)
        budget -= len(name)
        if budget < 0:
            raise ValueError("its symbols have longer names than any real file")
        yield Symbol(name, item.address, item.size, item.defined)


def _strings_of(elf: Elf, table: str) -> Section | None:
    section = elf.section(table)
    if section is None or not 0 <= section.link < len(elf.sections):
        return None
    return elf.sections[section.link]
