"""The text around a differing byte of a library, as C strings delimit it."""

from __future__ import annotations

from typing import NamedTuple

from tfenv.audit.ranges import Range
from tfenv.wheel.blob import Blob

REACH = 4096  # bytes: longer texts are cut there


class Window(NamedTuple):
    """The same stretch of both sides, widened to where both begin and end a string."""

    start: int
    end: int
    a: bytes
    b: bytes


def around(a: Blob, b: Blob, at_a: int, at_b: int, size: int, part: Range) -> Window:
    """Widen a differing range to the NUL bytes around it, at most `REACH` bytes each way."""
    low, high = max(0, part.start - REACH), min(size, part.end + REACH)
    left, right = a.read(at_a + low, high - low), b.read(at_b + low, high - low)
    start = left.rfind(b"\0", 0, part.start - low) + 1
    end = _common_end(left, right, part.end - low)
    return Window(low + start, low + end, left[start:end], right[start:end])


def _common_end(a: bytes, b: bytes, position: int) -> int:
    """The first place from `position` on where both sides end a string."""
    while 0 <= position < len(a):
        at = a.find(b"\0", position)
        if at < 0:
            break
        if b[at] == 0:
            return at
        position = at + 1
    return len(a)


def text_at(blob: Blob, offset: int) -> bytes | None:
    """The NUL-terminated string at an offset; None where there is none."""
    data = blob.near(offset, REACH)
    end = data.find(b"\0")
    return data[:end] if end >= 0 else None


def both(a: bytes, b: bytes) -> str:
    """Two differing stretches for a report, long texts from shortly before they part."""
    first = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), 0)
    skip = first - 24 if first > 48 else 0
    lead = "..." if skip else ""
    return f"{lead}{printable(a[skip:])} | {lead}{printable(b[skip:])}"


def printable(data: bytes, limit: int = 80) -> str:
    """Bytes for a report: text in quotes where it is text, else hexadecimal."""
    data = data.strip(b"\0")
    if data and all(32 <= byte < 127 or byte in (0, 9, 10) for byte in data):
        text = data.replace(b"\0", b" | ").decode("ascii")
        return repr(text if len(text) <= limit else text[:limit] + "...")
    return data[: limit // 4].hex(" ") + (" ..." if len(data) > limit // 4 else "")
