"""Compare two libraries section by section and account for every byte."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from tfenv.audit import causes, code, normalise, ranges, strings
from tfenv.audit.model import Difference, Explained
from tfenv.audit.normalise import Facts, Normaliser
from tfenv.audit.ranges import Range
from tfenv.wheel import elf, fatbin
from tfenv.wheel.blob import Blob
from tfenv.wheel.elf import Elf, Section

MAX_RANGES = 2000  # per section; with more, the section is named as a whole
MAX_NAMED = 40  # differences that are listed one by one per section
MAX_SYMBOLS = 20
MAX_TEXTS = 16 << 20  # bytes of a section whose texts are compared as sets
_STRINGS = (
    ".rodata", ".data", ".comment", ".debug", ".lrodata", ".ldata", ".interp",
    ".rdata", "__cstring", "__const",
)  # fmt: skip


class Pair(NamedTuple):
    """Both sides of one library."""

    path: str
    a: Blob
    b: Blob
    elves: tuple[Elf, Elf]
    facts: tuple[Facts, Facts]
    allowed: Sequence[Normaliser]
    places: code.Places


Found = Iterator[Difference | Explained]


def compare(
    path: str,
    a: Blob,
    b: Blob,
    facts: tuple[Facts, Facts],
    allowed: Sequence[Normaliser],
) -> Found:
    """Everything in which two ELF files differ.

    Raises:
        ValueError: one of them cannot be read as ELF.
    """
    elves = (elf.parse(a), elf.parse(b))
    yield from of_pair(Pair(path, a, b, elves, facts, allowed, code.Places(a, elves[0])))


def of_pair(pair: Pair) -> Found:
    """Everything in which two libraries differ whose tables are read already."""
    yield from _declared(pair)
    yield from _sections(pair)
    yield from _outside(pair)


def _declared(pair: Pair) -> Found:
    """What the tables say differently: the causes of what follows."""
    one, two = pair.elves
    if one.machine != two.machine:
        yield _difference(pair, "machine", "another processor", f"{one.machine}, {two.machine}")
    if one.comments != two.comments:
        yield _difference(
            pair,
            "compiler",
            "another compiler or linker",
            f"built with {', '.join(one.comments)} | {', '.join(two.comments)}",
        )
    if (one.needed, one.rpath, one.soname) != (two.needed, two.rpath, two.soname):
        left = {*one.needed, *one.rpath, one.soname}
        right = {*two.needed, *two.rpath, two.soname}
        detail = f"only in A: {_names(left - right)}; only in B: {_names(right - left)}"
        yield _difference(pair, "needs", "other libraries or search paths at link time", detail)
    names = [{n for group in file.versions.values() for n in group} for file in pair.elves]
    if names[0] != names[1]:
        detail = (
            f"only in A: {_names(names[0] - names[1])}; only in B: {_names(names[1] - names[0])}"
        )
        yield _difference(pair, "needs", "another C or C++ library at build time", detail)
    gpu = [_gpu(blob, file) for blob, file in zip((pair.a, pair.b), pair.elves, strict=True)]
    if gpu[0] != gpu[1]:
        detail = f"A: {_names(gpu[0])}; B: {_names(gpu[1])}"
        yield _difference(pair, "gpu-code", "other CUDA architectures were asked for", detail)


def _gpu(blob: Blob, file: Elf) -> set[str]:
    found = fatbin.GpuCode()
    for section in file.sections:
        if section.name in fatbin.SECTIONS and section.kind != elf.SHT_NOBITS:
            found.add(fatbin.scan(blob, section.offset, section.size))
    return {f"sm_{n}" for n in found.sass} | {f"compute_{n}" for n in found.ptx}


def _sections(pair: Pair) -> Found:
    left, right = (_by_name(file) for file in pair.elves)
    for name, section in left.items():
        other = right.get(name)
        if other is None:
            yield _difference(pair, "section", "other flags or tools", f"{name} is only in A")
        elif elf.SHT_NOBITS in (section.kind, other.kind):
            if (section.kind, section.size) != (other.kind, other.size):
                yield _resized(pair, name, section, other)
        elif section.size != other.size:
            yield from _other_size(pair, name, section, other)
        else:
            yield from _same_size(pair, name, section, other)
    for name in right:
        if name not in left:
            yield _difference(pair, "section", "other flags or tools", f"{name} is only in B")


def _by_name(file: Elf) -> dict[str, Section]:
    """Sections by name; a second one of the same name gets a number."""
    found: dict[str, Section] = {}
    for section in file.sections[1:]:
        name, count = section.name, 1
        while name in found:
            count += 1
            name = f"{section.name}#{count}"
        found[name] = section
    return found


def _other_size(pair: Pair, name: str, one: Section, two: Section) -> Found:
    ignored = _ignoring(pair, name)
    if ignored:
        yield Explained(path=pair.path, normaliser=ignored, detail=f"{name} has another size")
        return
    yield _resized(pair, name, one, two)
    if name == ".dynsym":
        yield from _symbols(pair)
    if one.flags & 0x10 or name.startswith(_STRINGS):
        yield from _new_strings(pair, name, one, two)


def _resized(pair: Pair, name: str, one: Section, two: Section) -> Difference:
    kind = "instruction" if one.flags & 4 else "section"
    detail = f"{name} has {one.size} bytes in A and {two.size} in B"
    return _difference(pair, kind, causes.of_resize(name), detail)


def _symbols(pair: Pair) -> Found:
    names = [
        {s.name for s in elf.symbols(blob, file) if s.defined}
        for blob, file in zip((pair.a, pair.b), pair.elves, strict=True)
    ]
    for side, only in (("A", names[0] - names[1]), ("B", names[1] - names[0])):
        for name in sorted(only)[:MAX_SYMBOLS]:
            yield _difference(pair, "symbol", "other sources or flags", f"{name} is only in {side}")
        if len(only) > MAX_SYMBOLS:
            detail = f"{len(only) - MAX_SYMBOLS} more symbols are only in {side}"
            yield _difference(pair, "symbol", "other sources or flags", detail)


def _new_strings(pair: Pair, name: str, one: Section, two: Section) -> Found:
    """Texts that stand on one side only, for sections of moderate size."""
    if max(one.size, two.size) > MAX_TEXTS:
        return
    texts = [
        set(blob.near(s.offset, s.size).split(b"\0")) for blob, s in ((pair.a, one), (pair.b, two))
    ]
    for side, only in (("A", texts[0] - texts[1]), ("B", texts[1] - texts[0])):
        readable = sorted(t for t in only if len(t) > 3 and all(32 <= c < 127 for c in t))
        for text in readable[:MAX_SYMBOLS]:
            cause = causes.of_text(text, b"")
            detail = f"{name}: {strings.printable(text)} is only in {side}"
            yield _difference(pair, "constant", cause, detail)


def _same_size(pair: Pair, name: str, one: Section, two: Section) -> Found:
    parts = ranges.differing(pair.a, pair.b, one.offset, two.offset, one.size)
    head = list(islice(parts, MAX_RANGES + 1))
    if not head:
        return
    ignored = _ignoring(pair, name)
    if ignored:
        values = " | ".join(file.build_id for file in pair.elves)
        if name != ".note.gnu.build-id":
            values = strings.both(_tail(pair.a, one), _tail(pair.b, two))
        yield Explained(path=pair.path, normaliser=ignored, detail=f"{name}: {values}")
        return
    if len(head) > MAX_RANGES:
        cause = causes.of_many(name, pair.a, pair.b, one, two)
        detail = f"{name} differs in more than {MAX_RANGES} places, the first at {head[0].start:#x}"
        yield _difference(pair, "section", cause, detail)
        return
    yield from _ranges(pair, name, one, two, head)


def _tail(blob: Blob, section: Section) -> bytes:
    """The last bytes of a section, which of a debug link are its checksum."""
    size = min(section.size, 20)
    return blob.near(section.offset + section.size - size, size)


def _ranges(pair: Pair, name: str, one: Section, two: Section, parts: list[Range]) -> Found:
    """Explain or name every differing range of one section."""
    left: list[tuple[Range, bytes, bytes]] = []
    told = -1
    for part in parts:
        if part.end <= told:
            continue
        pointed = ""
        if one.flags & 4:
            moved = code.moved_string(
                pair.a, pair.b, pair.elves, (one, two), part, pair.facts, pair.allowed
            )
            window_a = pair.a.read(one.offset + part.start, part.end - part.start)
            window_b = pair.b.read(two.offset + part.start, part.end - part.start)
            names, pointed = moved if moved and _allowed(pair, "string-move") else (None, "")
        else:
            window = strings.around(pair.a, pair.b, one.offset, two.offset, one.size, part)
            told, window_a, window_b = window.end, window.a, window.b
            names = normalise.explain_content(
                pair.path,
                window_a.rstrip(b"\0"),
                window_b.rstrip(b"\0"),
                pair.facts,
                pair.allowed,
            )
        if names is None:
            left.append((part, window_a, window_b))
            continue
        shown = f"{name}+{part.start:#x}: {strings.both(window_a, window_b)}"
        if one.flags & 4:
            shown += f", an address that points to {pointed}"
        for normaliser in names:
            yield Explained(path=pair.path, normaliser=normaliser, detail=shown)
    yield from _unexplained(pair, name, one, left)


def _unexplained(
    pair: Pair, name: str, section: Section, left: list[tuple[Range, bytes, bytes]]
) -> Found:
    named = left[:MAX_NAMED]
    kind = causes.kind_of(name, section)
    for part, window_a, window_b in named:
        where = pair.places.name(section.address + part.start) if section.address else ""
        detail = f"{name}+{part.start:#x}" + (f" ({where})" if where else "")
        cause = causes.of_bytes(kind, window_a, window_b)
        yield _difference(pair, kind, cause, f"{detail}: {strings.both(window_a, window_b)}")
    if len(left) > len(named):
        total = sum(part.end - part.start for part, _, _ in left)
        detail = f"{name}: {len(left)} places, {total} bytes in all"
        yield _difference(pair, kind, causes.of_bytes(kind, b"", b""), detail)


def _outside(pair: Pair) -> Found:
    """Bytes in no section: headers, padding, and what was added at the end."""
    gaps = [_gaps(blob.size, file) for blob, file in zip((pair.a, pair.b), pair.elves, strict=True)]
    moved = [s[3:7] for s in pair.elves[0].sections] != [s[3:7] for s in pair.elves[1].sections]
    if moved or gaps[0] != gaps[1]:
        if [s.size for s in pair.elves[0].sections] == [s.size for s in pair.elves[1].sections]:
            cause = "another order or alignment at link time"
            yield _difference(pair, "headers", cause, "sections stand at other places")
        elif pair.a.size != pair.b.size:
            detail = f"{pair.a.size} bytes in A, {pair.b.size} in B"
            yield _difference(pair, "headers", "follows from the sections above", detail)
        return
    for start, end in gaps[0]:
        for count, part in enumerate(ranges.differing(pair.a, pair.b, start, start, end - start)):
            at = start + part.start
            if count == MAX_NAMED:
                detail = f"more from offset {at:#x} to {end:#x}, in no section"
                yield _difference(pair, "headers", "another linker, or an edited file", detail)
                break
            left = pair.a.read(at, part.end - part.start)
            right = pair.b.read(at, part.end - part.start)
            kind = "headers" if at < 4096 or at >= pair.a.size - 65_536 else "padding"
            detail = f"offset {at:#x}, in no section: {strings.both(left, right)}"
            yield _difference(pair, kind, "another linker, or an edited file", detail)


def _gaps(size: int, file: Elf) -> list[tuple[int, int]]:
    """Stretches of a file that belong to no section."""
    found: list[tuple[int, int]] = []
    end = 0
    filled = (s for s in file.sections if s.kind not in (0, elf.SHT_NOBITS))
    for section in sorted(filled, key=lambda s: s.offset):
        if section.offset > end:
            found.append((end, min(section.offset, size)))
        end = max(end, section.offset + section.size)
    if end < size:
        found.append((end, size))
    return found


def _ignoring(pair: Pair, section: str) -> str:
    return next((item.name for item in pair.allowed if section in item.sections), "")


def _allowed(pair: Pair, name: str) -> bool:
    return any(item.name == name for item in pair.allowed)


def _difference(pair: Pair, kind: str, cause: str, detail: str) -> Difference:
    return Difference(path=pair.path, kind=kind, cause=cause, detail=detail)


def _names(names: set[str]) -> str:
    return ", ".join(sorted(name for name in names if name)) or "nothing"
