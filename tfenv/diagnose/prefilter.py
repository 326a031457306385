"""Find the lines of a chunk that hold one of many texts.

A log has millions of lines and few that matter. With RE2 (the extra `explain`) one pass over
the bytes finds them all; without it, Python's own search runs once per text: the same lines,
some twenty times slower.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Protocol

_BLOCK = 4096


class Prefilter(Protocol):
    """Yields `(start, end, numbers of the texts in it)` for lines of a chunk, in order."""

    def lines(self, chunk: bytes) -> Iterator[tuple[int, int, set[int]]]: ...


def make(texts: Sequence[bytes], *, engine: str = "auto") -> Prefilter:
    """The fastest prefilter that is installed; `engine` is auto, re2 or find."""
    if engine != "find":
        try:
            return _Re2Prefilter(texts, importlib.import_module("re2"))
        except ImportError:
            if engine == "re2":
                raise
    return _FindPrefilter(texts)


class _Re2Prefilter:
    """Blocks of a few KiB go through one automaton; only the lines of a block that holds
    something are looked at one by one."""

    def __init__(self, texts: Sequence[bytes], re2: Any) -> None:
        options = re2.Options()
        options.encoding = re2.Options.Encoding.LATIN1
        options.literal = True
        options.max_mem = 64 << 20
        numbers: dict[bytes, set[int]] = {}
        for number, text in enumerate(texts):
            numbers.setdefault(text, set()).add(number)
        automaton = re2.Set.SearchSet(options)
        for text in numbers:
            automaton.Add(text)
        automaton.Compile()
        self._match = automaton.Match
        self._numbers = list(numbers.values())

    def lines(self, chunk: bytes) -> Iterator[tuple[int, int, set[int]]]:
        match, numbers, size = self._match, self._numbers, len(chunk)
        start = 0
        while start < size:
            stop = chunk.find(b"\n", min(start + _BLOCK, size)) + 1 or size
            if match(chunk[start:stop]):
                while start < stop:
                    end = chunk.find(b"\n", start, stop)
                    end = stop if end < 0 else end
                    found = match(chunk[start:end])
                    if found:
                        yield start, end, set().union(*(numbers[n] for n in found))
                    start = end + 1
            start = stop


class _FindPrefilter:
    def __init__(self, texts: Sequence[bytes]) -> None:
        self._texts: dict[bytes, list[int]] = {}
        for number, text in enumerate(texts):
            self._texts.setdefault(text, []).append(number)

    def lines(self, chunk: bytes) -> Iterator[tuple[int, int, set[int]]]:
        found: dict[int, set[int]] = {}
        for text, numbers in self._texts.items():
            place = chunk.find(text)
            while place >= 0:
                start = chunk.rfind(b"\n", 0, place) + 1
                found.setdefault(start, set()).update(numbers)
                end = chunk.find(b"\n", place)
                place = -1 if end < 0 else chunk.find(text, end)
        for start in sorted(found):
            end = chunk.find(b"\n", start)
            yield start, len(chunk) if end < 0 else end, found[start]


def encodings_of(text: str) -> Iterable[bytes]:
    """The bytes by which `text` may appear in a log: UTF-8 and Chinese Windows' GB 18030."""
    return {text.encode("utf-8"), text.encode("gb18030")}


_WORD = re.compile(rb"\d+|0x[0-9a-f]+")


def skeleton(line: bytes) -> bytes:
    """A line without its numbers, to recognise a line that only repeats."""
    return _WORD.sub(b"0", line)
