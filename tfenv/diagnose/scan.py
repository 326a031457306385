"""Read a log once, in constant memory, and note every line that a signature knows.

The bytes go through the prefilter in chunks; only lines that hold one of its texts are decoded,
brought to normal form and held against the templates. A line that ends a phase well (an
outcome) forgets the failures of that phase further up: they were retried or repaired.
"""

from __future__ import annotations

import codecs
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import BinaryIO

from tfenv.diagnose import lines, prefilter
from tfenv.diagnose.model import Clue, Evidence, Outcome, Remark, Signature, Trouble
from tfenv.diagnose.signatures import Library
from tfenv.diagnose.template import Template, compile_template

CHUNK = 1 << 20
_KEPT = 4  # hits of one signature that are kept
_ENOUGH = 200  # matches of one template after which it is left out of the search
_CLUES = 40  # values of one clue that are kept
_REPEATS = 4000  # kinds of lines without a match that are remembered

Owner = Signature | Clue | Outcome | Remark | Trouble


@dataclass(frozen=True)
class Hit:
    """One line that matched: what it says, where, and what the template captured."""

    evidence: Evidence
    captures: dict[str, str]

    @property
    def line(self) -> int:
        return self.evidence.line


@dataclass(eq=False)
class _Entry:
    template: Template
    owners: list[tuple[str, int, tuple[str, ...]]]  # kind, index in the library, `without`
    order: int  # its place in the library: of several that match a line, the first counts
    matches: int = 0
    limit: int = _ENOUGH


@dataclass
class Scan:
    """What a log holds: hits by index of the library's arrays, clues by name."""

    signatures: dict[int, list[Hit]] = field(default_factory=lambda: defaultdict(list))
    troubles: dict[int, list[Hit]] = field(default_factory=lambda: defaultdict(list))
    clues: dict[str, list[tuple[int, str]]] = field(default_factory=lambda: defaultdict(list))
    remarks: dict[int, int] = field(default_factory=dict)  # index to first line
    outcomes: list[tuple[int, int]] = field(default_factory=list)  # line, index
    lines: int = 0


class Scanner:
    """The compiled library; use it for one log after another."""

    def __init__(self, library: Library, *, engine: str = "auto") -> None:
        self.library = library
        self._engine = engine
        self.entries = _entries(library)
        self.by_text: dict[str, list[_Entry]] = defaultdict(list)
        for entry in self.entries:
            for text in entry.template.literals:
                self.by_text[text].append(entry)
        self.all = self.compiled(list(self.by_text))

    def compiled(self, texts: list[str]) -> tuple[prefilter.Prefilter, list[str]]:
        """A search for these texts, and the text that each of its numbers stands for."""
        pairs = [(raw, text) for text in texts for raw in sorted(prefilter.encodings_of(text))]
        chosen = prefilter.make([raw for raw, _ in pairs], engine=self._engine)
        return chosen, [text for _, text in pairs]

    def scan(self, stream: BinaryIO) -> Scan:
        """Read `stream` to its end."""
        for entry in self.entries:
            entry.matches = 0
        return _Run(self, stream).result


class _Run:
    """The state of reading one log."""

    def __init__(self, scanner: Scanner, stream: BinaryIO) -> None:
        self.result = Scan()
        self._scanner = scanner
        self._library = scanner.library
        self._filter, self._texts = scanner.all
        self._quiet: set[tuple[bytes, frozenset[str]]] = set()
        self._retired = 0
        for chunk in _chunks(stream):
            self._read(lines.strip_colours(chunk))
            self._leave_out()

    def _read(self, chunk: bytes) -> None:
        number, place = self.result.lines + 1, 0
        for start, end, found in self._filter.lines(chunk):
            number += chunk.count(b"\n", place, start)
            place = start
            self._line(chunk, start, end, number, {self._texts[n] for n in found})
        self.result.lines += chunk.count(b"\n") + (not chunk.endswith(b"\n"))

    def _line(self, chunk: bytes, start: int, end: int, number: int, texts: set[str]) -> None:
        by_order = {e.order: e for text in texts for e in self._scanner.by_text[text]}
        known = [by_order[order] for order in sorted(by_order)]
        entries = [entry for entry in known if entry.matches < entry.limit]
        if not entries:
            return
        raw = chunk[start:end]
        shape = (prefilter.skeleton(raw[: lines.MAX_LINE]), frozenset(texts))
        if shape in self._quiet:
            return
        matched = False
        for window, wanted in _windows(raw, entries):
            text = lines.unprefixed(lines.decode(window))
            if lines.is_source_quote(text):
                continue
            command = lines.is_command(text)
            if command and lines.is_windows_prompt(text):
                self.result.clues["windows"] = [(number, "yes")]
            normal = lines.message(lines.command_of(text) if command else text)
            for entry in wanted:
                captures = entry.template.match(normal)
                if captures is not None:
                    matched |= self._found(
                        entry, captures, normal, number, command, (chunk, start, end)
                    )
        whole = len(entries) == len(known) and len(raw) <= lines.MAX_LINE
        if whole and not matched and len(self._quiet) < _REPEATS:
            self._quiet.add(shape)

    def _found(
        self,
        entry: _Entry,
        captures: dict[str, str],
        normal: str,
        number: int,
        command: bool,
        place: tuple[bytes, int, int],
    ) -> bool:
        noted = False
        for kind, index, without in entry.owners:
            if any(text in normal for text in without):
                continue
            if kind == "clue":
                noted |= self._clue(self._library.clue[index], captures, number, command)
            elif not command:
                self._note(kind, index, Hit(_evidence(place, number), captures))
                noted = True
        entry.matches += noted
        return noted

    def _clue(self, clue: Clue, captures: dict[str, str], number: int, command: bool) -> bool:
        if clue.where != "any" and (clue.where == "command") != command:
            return False
        values = self.result.clues[clue.name]
        if len(values) < _CLUES:
            values.append((number, clue.value or captures.get("value", "yes")))
        return True

    def _note(self, kind: str, index: int, hit: Hit) -> None:
        if kind == "outcome":
            then = self._library.outcome[index].then
            if then and not (hit.evidence.after and hit.evidence.after[0].startswith(then)):
                return
            self.result.outcomes.append((hit.line, index))
            self._clear(self._library.outcome[index])
        elif kind == "remark":
            self.result.remarks.setdefault(index, hit.line)
        else:
            table = self.result.signatures if kind == "signature" else self.result.troubles
            if len(table[index]) < _KEPT and not any(h.line == hit.line for h in table[index]):
                table[index].append(hit)

    def _clear(self, outcome: Outcome) -> None:
        done = set(outcome.clears)
        for index in [
            i for i in self.result.signatures if self._library.signature[i].phase in done
        ]:
            del self.result.signatures[index]
        for index in [i for i in self.result.troubles if self._library.trouble[i].phase in done]:
            del self.result.troubles[index]
        for entry in self._scanner.entries:
            if entry.limit == _ENOUGH:
                entry.matches = 0
        if self._retired:
            self._retired = 0
            self._filter, self._texts = self._scanner.all

    def _leave_out(self) -> None:
        """Search no longer for texts whose templates have all matched often enough."""
        over = [
            text
            for text, entries in self._scanner.by_text.items()
            if all(entry.matches >= entry.limit for entry in entries)
        ]
        if len(over) > self._retired:
            self._retired = len(over)
            rest = [text for text in self._scanner.by_text if text not in over]
            self._filter, self._texts = self._scanner.compiled(rest)


def _entries(library: Library) -> list[_Entry]:
    by_text: dict[str, _Entry] = {}
    for kind in ("signature", "clue", "outcome", "remark", "trouble"):
        for index, owner in enumerate(getattr(library, kind)):
            without = tuple(getattr(owner, "without", ()))
            for text in owner.match:
                entry = by_text.get(text)
                if entry is None:
                    entry = by_text[text] = _Entry(compile_template(text), [], len(by_text))
                entry.owners.append((kind, index, without))
                if kind == "outcome":
                    entry.limit = 1 << 62  # the last one counts
    for entry in by_text.values():
        if all(kind == "clue" for kind, _, _ in entry.owners):
            entry.limit = _CLUES
    return list(by_text.values())


def _chunks(stream: BinaryIO) -> Iterator[bytes]:
    """Blocks of whole lines; a line longer than a block is cut."""
    head = stream.read(CHUNK)
    encoding = lines.encoding_of(head)
    decoder = None if encoding == "utf-8" else codecs.getincrementaldecoder(encoding)("replace")
    rest, block = b"", head
    while block:
        data = rest + (decoder.decode(block).encode("utf-8") if decoder else block)
        cut = data.rfind(b"\n") + 1
        if cut == 0 and len(data) < 2 * CHUNK:
            rest = data
        else:
            cut = cut or len(data)
            yield data[:cut]
            rest = data[cut:]
        block = stream.read(CHUNK)
    if rest:
        yield rest


def _windows(raw: bytes, entries: list[_Entry]) -> Iterator[tuple[bytes, list[_Entry]]]:
    """The parts of a line that are worth a look, each with the templates to try on it."""
    if b"\r" in raw.rstrip(b"\r"):
        for piece in raw.split(b"\r"):
            yield piece[: lines.MAX_LINE], entries
    elif len(raw) <= lines.MAX_LINE:
        yield raw, entries
    else:
        for entry in entries:
            for text in entry.template.literals:
                for encoded in prefilter.encodings_of(text):
                    for place in {raw.find(encoded), raw.rfind(encoded)} - {-1}:
                        yield raw[max(0, place - 1500) : place + 2500], [entry]


def _evidence(place: tuple[bytes, int, int], number: int) -> Evidence:
    chunk, start, end = place
    before = chunk[max(0, start - 1200) : start].split(b"\n")[:-1][-2:]
    after = chunk[end + 1 : end + 1600].split(b"\n")[:3]
    return Evidence(
        line=number,
        text=lines.display(chunk[start:end]),
        before=[lines.display(line) for line in before],
        after=[lines.display(line) for line in after if line],
    )
