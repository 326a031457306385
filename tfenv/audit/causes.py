"""From what differs to the most likely reason."""

from __future__ import annotations

import re
from collections import Counter

from tfenv.audit import normalise
from tfenv.audit.normalise import Facts
from tfenv.wheel.blob import Blob
from tfenv.wheel.elf import Section

_NOTHING = Facts()
_FLAGS = re.compile(rb"(?<![\w-])-(?:march|mtune|O[0-3s]|g|std|f|m)[\w=+.-]*")
_SAMPLE = 16 << 20


def kind_of(name: str, section: Section) -> str:
    """How a difference in a section is called."""
    if section.flags & 4:
        return "instruction"
    if name.startswith((".nv_fatbin", "__nv_relfatbin")):
        return "gpu-code"
    if name.startswith((".symtab", ".strtab", ".dynsym", ".dynstr", ".gnu.hash", ".gnu.version")):
        return "symbol"
    if name.startswith(("__LINKEDIT", ".edata", ".reloc")):
        return "symbol"
    if name.startswith((".dynamic", ".got", ".rela", ".eh_frame", ".gcc_except_table")):
        return "section"
    return "constant"


def of_bytes(kind: str, a: bytes, b: bytes) -> str:
    """The likely reason of one differing place."""
    if kind == "instruction":
        return "a change in the source, or another compiler or other flags"
    if kind == "constant":
        return of_text(a, b)
    if kind == "gpu-code":
        return "another nvcc, other flags, or a changed kernel"
    return "follows from other differences, or another order at link time"


def of_text(a: bytes, b: bytes) -> str:
    """The likely reason why a text differs."""
    if any(normalise.mask_timestamp("", text, _NOTHING) != text for text in (a, b)):
        return "__DATE__, __TIME__ or another time of the build"
    if any(normalise.mask_git_version("", text, _NOTHING) != text for text in (a, b)):
        return "another commit"
    if any(normalise.mask_path("", text, _NOTHING) != text for text in (a, b)):
        return "another build folder: -ffile-prefix-map removes it"
    if _FLAGS.search(a) or _FLAGS.search(b):
        return "other compiler flags"
    return "a changed constant in the source"


def of_resize(name: str) -> str:
    """The likely reason why a section has another size."""
    if name.startswith((".nv_fatbin", "__nv_relfatbin")):
        return "other CUDA architectures, or another nvcc"
    if name.startswith(".debug"):
        return "other debug information: flags, or the build folder"
    if name.startswith((".text", ".plt")):
        return "other sources, another compiler or other flags"
    return "follows from other sources, compiler or flags"


def of_many(name: str, a: Blob, b: Blob, one: Section, two: Section) -> str:
    """The likely reason why a section differs all over: the same parts in another order?"""
    if one.size <= _SAMPLE:
        left = a.near(one.offset, one.size).split(b"\0")
        right = b.near(two.offset, two.size).split(b"\0")
        if Counter(left) == Counter(right):
            return (
                "the same parts in another order: file order, or a hash table's order under ASLR "
                "or PYTHONHASHSEED"
            )
    return of_resize(name)
