"""Changed bytes of machine code: in which function, and whether only a text has moved."""

from __future__ import annotations

import bisect
import struct
from collections.abc import Sequence

from tfenv.audit import normalise
from tfenv.audit.normalise import Facts, Normaliser
from tfenv.audit.ranges import Range
from tfenv.audit.strings import text_at
from tfenv.wheel import elf
from tfenv.wheel.blob import Blob
from tfenv.wheel.elf import Elf, Section

_LEA_BEFORE = 3  # REX.W prefix, opcode, ModRM


def moved_string(
    a: Blob,
    b: Blob,
    elves: tuple[Elf, Elf],
    sections: tuple[Section, Section],
    part: Range,
    facts: tuple[Facts, Facts],
    allowed: Sequence[Normaliser],
) -> list[str] | None:
    """The normalisers that make an x86-64 `lea reg, [rip+x]` point to equal texts; None else.

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
                return [*names, "string-move"]
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


def functions(blob: Blob, file: Elf, addresses: Sequence[int]) -> dict[int, str]:
    """The symbol that covers each address, with the distance from its start."""
    wanted = sorted(set(addresses))
    found: dict[int, str] = {}
    for table in (".symtab", ".dynsym"):
        if not wanted or file.section(table) is None:
            continue
        for symbol in elf.symbols(blob, file, table):
            if not symbol.defined or not symbol.name or not symbol.size:
                continue
            first = bisect.bisect_left(wanted, symbol.address)
            while first < len(wanted) and wanted[first] < symbol.address + symbol.size:
                distance = wanted[first] - symbol.address
                found.setdefault(wanted[first], f"{symbol.name}+{distance:#x}")
                first += 1
    return found
