"""Compare two Windows (PE) or macOS (Mach-O) libraries section by section.

Their sections are laid before the same comparison as those of ELF files. What linking anew changes
is masked on each side alone, by the tables of that side: the tables themselves are compared, so
that a mask cannot be moved over anything else unseen.
"""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Iterator, Sequence

from tfenv.audit import code, libraries, strings
from tfenv.audit.model import Difference, Explained
from tfenv.audit.normalise import Facts, Normaliser
from tfenv.wheel import portable
from tfenv.wheel.blob import Blob
from tfenv.wheel.elf import Elf, Section
from tfenv.wheel.library import format_of
from tfenv.wheel.portable import Field, Portable

_LOADED, _CODE = 2, 4  # SHF_ALLOC, SHF_EXECINSTR: how ELF marks what these are
_MACHINES = {"amd64": "x86_64"}


class Masked(Blob):
    """Another blob with some stretches read as zeros."""

    def __init__(self, blob: Blob, fields: Sequence[Field]) -> None:
        super().__init__(io.BytesIO(), blob.size)
        self._blob = blob
        self._fields = fields

    def read(self, offset: int, length: int) -> bytes:
        data = self._blob.read(offset, length)
        for field in self._fields:
            start = max(field.offset - offset, 0)
            end = min(field.offset + field.size - offset, length)
            if start < end:
                data = data[:start] + bytes(end - start) + data[end:]
        return data

    def close(self) -> None:
        """The other blob stays open."""


def comparable(a: Blob, b: Blob) -> bool:
    """Whether both are PE, or both Mach-O."""
    return format_of(a.near(0, 16)) == format_of(b.near(0, 16)) in ("PE", "Mach-O")


def compare(
    path: str,
    a: Blob,
    b: Blob,
    facts: tuple[Facts, Facts],
    allowed: Sequence[Normaliser],
) -> Iterator[Difference | Explained]:
    """Everything in which two libraries of one kind differ.

    Raises:
        ValueError: one of them cannot be read.
    """
    kind = format_of(a.near(0, 16))
    parts = portable.parse(kind, a), portable.parse(kind, b)
    names = {item.name for item in allowed if item.scope == "field"}
    fields = [
        [field for part in side for field in part.fields if field.kind in names] for side in parts
    ]
    yield from _stamps(path, (a, b), fields)
    masked = Masked(a, fields[0]), Masked(b, fields[1])
    files = _as_elf(parts[0]), _as_elf(parts[1])
    places = code.Places(masked[0], files[0])
    yield from libraries.of_pair(libraries.Pair(path, *masked, files, facts, allowed, places))


def _stamps(
    path: str, blobs: tuple[Blob, Blob], fields: Sequence[Sequence[Field]]
) -> Iterator[Explained]:
    """The masked fields that differ. Those of one side only are left to the comparison."""
    for one, two in zip(*fields, strict=False):
        left, right = blobs[0].near(one.offset, one.size), blobs[1].near(two.offset, two.size)
        if one.kind == two.kind and left != right:
            detail = f"{one.name}, offset {one.offset:#x}: {strings.both(left[-20:], right[-20:])}"
            yield Explained(path=path, normaliser=one.kind, detail=detail)


def _as_elf(parts: Sequence[Portable]) -> Elf:
    """The tables in the form that ELF's have; sections of several architectures carry theirs."""
    several = len(parts) > 1
    sections = [Section("", 0, 0, 0, 0, 0, 0, 0)]
    for part in parts:
        for place in part.sections:
            name = f"{place.name} ({part.machine})" if several else place.name
            flags = _LOADED | (_CODE if place.code else 0)
            address = 0 if several else place.address
            sections.append(Section(name, 1, flags, address, place.offset, place.size, 0, 0))
    machines = Counter(part.machine for part in parts)
    return Elf(
        bits=64,
        little=True,
        machine="+".join(_MACHINES.get(name, name) for name in machines),
        segments=(),
        sections=tuple(sections),
        needed=tuple(name for part in parts for name in part.needed),
        rpath=tuple(name for part in parts for name in part.rpath),
        comments=tuple(text for part in parts for text in _built(part)),
    )


def _built(part: Portable) -> Iterator[str]:
    if part.linker:
        yield f"linker {part.linker}"
    if part.minimum_os:
        yield f"for macOS {part.minimum_os} or newer"
