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
    def __init__(self, texts: Sequence[bytes], re2: Any) -> None:
        # Longest first: where several texts start at one place, the longest is reported, and
        # `inside` adds those that it holds.
        order = sorted(set(texts), key=len, reverse=True)
        options = re2.Options()
        options.encoding = re2.Options.Encoding.LATIN1
        options.max_mem = 64 << 20
        self._search = re2.compile(b"|".join(map(re2.escape, order)), options).search
        self._numbers: dict[bytes, list[int]] = {}
        for number, text in enumerate(texts):
            self._numbers.setdefault(text, []).append(number)
        self._inside: dict[bytes, set[int]] = {}

    def inside(self, text: bytes) -> set[int]:
        """The numbers of all texts that `text` holds, itself included."""
        if text not in self._inside:
            self._inside[text] = {
                n for other, numbers in self._numbers.items() if other in text for n in numbers
            }
        return self._inside[text]

    def lines(self, chunk: bytes) -> Iterator[tuple[int, int, set[int]]]:
        search, inside = self._search, self.inside
        match = search(chunk)
        while match is not None:
            place = match.start()
            start = chunk.rfind(b"\n", 0, place) + 1
            end = chunk.find(b"\n", place)
            end = len(chunk) if end < 0 else end
            found: set[int] = set()
            while match is not None and match.start() < end:
                found |= inside(match.group())
                match = search(chunk, match.start() + 1)
            yield start, end, found


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
