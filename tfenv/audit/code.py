"""Changed bytes of machine code: in which function, and whether only a text has moved."""

from __future__ import annotations

import bisect
import struct
from array import array
from collections.abc import Sequence

from tfenv.audit import normalise
from tfenv.audit.normalise import Facts, Normaliser
from tfenv.audit.ranges import Range
from tfenv.audit.strings import both, text_at
from tfenv.wheel import elf
from tfenv.wheel.blob import Blob
from tfenv.wheel.elf import Elf, Section

_NESTED = 8  # symbols before an address that are asked whether they reach it
_LEA_BEFORE = 3  # REX.W prefix, opcode, ModRM


def moved_string(
    a: Blob,
    b: Blob,
    elves: tuple[Elf, Elf],
    sections: tuple[Section, Section],
    part: Range,
    facts: tuple[Facts, Facts],
    allowed: Sequence[Normaliser],
) -> tuple[list[str], str] | None:
    """The normalisers that make an x86-64 `lea reg, [rip+x]` point to equal texts; None else.

    With them, the text on both sides for a report.

    Only the four bytes of the displacement may differ, and the texts at both targets must be
    equal after the content normalisers.
    """
    if elves[0].machine != "x86_64" or part.end - part.start > 4:
        return None
    for start in range(part.end - 4, part.start + 1):
        if start < _LEA_BEFORE:
            continue
        texts: list[bytes] = []
        for blob, file, section in zip((a, b), elves, sections, strict=True):
            code = blob.near(section.offset + start - _LEA_BEFORE, _LEA_BEFORE + 4)
            if not _is_lea(code):
                break
            (displacement,) = struct.unpack_from("<i", code, _LEA_BEFORE)
            text = _text(blob, file, section.address + start + 4 + displacement)
            if not text:
                break
            texts.append(text)
        if len(texts) == 2:
            names = normalise.explain_content("", texts[0], texts[1], facts, allowed)
            if names is not None:
                return [*names, "string-move"], both(texts[0], texts[1])
    return None


def _is_lea(code: bytes) -> bool:
    """REX.W lea with a RIP-relative operand (Intel SDM, LEA and 2.2.1.6)."""
    return len(code) == 7 and code[0] & 0xFB == 0x48 and code[1] == 0x8D and code[2] & 0xC7 == 0x05


def _text(blob: Blob, file: Elf, address: int) -> bytes | None:
    section = next(
        (s for s in file.sections if s.flags & 2 and 0 <= address - s.address < s.size), None
    )
    if section is None or section.flags & 4 or section.kind == elf.SHT_NOBITS:
        return None
    return text_at(blob, section.offset + address - section.address)


class Places:
    """Which symbol covers an address. The tables are read once, when first asked."""

    def __init__(self, blob: Blob, file: Elf) -> None:
        self._blob = blob
        self._file = file
        self._tables: list[_Table] | None = None

    def name(self, address: int) -> str:
        """The symbol and the distance from its start; empty where none covers the address."""
        if self._tables is None:
            tables = (".symtab", ".dynsym")
            self._tables = [_Table(self._blob, self._file, name) for name in tables]
        return next((found for table in self._tables if (found := table.name(address))), "")


class _Table:
    """One symbol table by address, in arrays: TensorFlow's has over half a million symbols."""

    def __init__(self, blob: Blob, file: Elf, table: str) -> None:
        self._blob, self._file, self._table = blob, file, table
        rows = (array("Q"), array("Q"), array("Q"))
        for symbol in elf.raw_symbols(blob, file, table):
            if symbol.defined and symbol.size:
                rows[0].append(symbol.address)
                rows[1].append(symbol.name)
                rows[2].append(symbol.size)
        order = sorted(range(len(rows[0])), key=rows[0].__getitem__)
        self._starts, self._names, self._sizes = (
            array("Q", (column[i] for i in order)) for column in rows
        )

    def name(self, address: int) -> str:
        last = bisect.bisect_right(self._starts, address) - 1
        for index in range(last, max(last - _NESTED, -1), -1):
            distance = address - self._starts[index]
            if distance < self._sizes[index]:
                name = elf.symbol_name(self._blob, self._file, self._table, self._names[index])
                if name:
                    return f"{name}+{distance:#x}"
        return ""
