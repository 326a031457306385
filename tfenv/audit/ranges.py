"""Where two stretches of bytes differ, found fast and in bounded memory."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from tfenv.wheel.blob import Blob

CHUNK = 1 << 20
_NONZERO = re.compile(rb"[^\0]+")


class Range(NamedTuple):
    """Differing bytes [start, end), relative to the start of the stretch."""

    start: int
    end: int


def differing(a: Blob, b: Blob, at_a: int, at_b: int, size: int, join: int = 8) -> Iterator[Range]:
    """Ranges of differing bytes of two stretches of one size; ranges closer than `join` are one."""
    pending: Range | None = None
    for start in range(0, size, CHUNK):
        length = min(CHUNK, size - start)
        left, right = a.read(at_a + start, length), b.read(at_b + start, length)
        if left == right:
            continue
        for match in _NONZERO.finditer(xor(left, right)):
            found = Range(start + match.start(), start + match.end())
            if pending and found.start - pending.end < join:
                pending = Range(pending.start, found.end)
            else:
                if pending:
                    yield pending
                pending = found
    if pending:
        yield pending


def count(a: Blob, b: Blob) -> int:
    """How many bytes differ between two blobs of one size."""
    total = 0
    for start in range(0, a.size, CHUNK):
        length = min(CHUNK, a.size - start)
        left, right = a.read(start, length), b.read(start, length)
        if left != right:
            total += length - xor(left, right).count(0)
    return total


def xor(a: bytes, b: bytes) -> bytes:
    """Bytewise exclusive or of two strings of one length."""
    number = int.from_bytes(a, "little") ^ int.from_bytes(b, "little")
    return number.to_bytes(len(a), "little")
