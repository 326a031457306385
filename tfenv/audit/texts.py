"""Members that are no libraries: which lines differ, or else which bytes."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterator, Sequence

from tfenv.audit import causes, normalise, ranges, strings
from tfenv.audit.model import Difference, Explained
from tfenv.audit.normalise import Facts, Normaliser
from tfenv.wheel.blob import Blob

MAX_CONTENT = 16 << 20  # bytes: larger members are compared as bytes only
MAX_LINES = 4000  # beyond, lines are compared by number
MAX_ALIKE = 1_000_000  # pairs of equal lines; beyond, too
MAX_SHOWN = 30


def compare(
    path: str, a: Blob, b: Blob, facts: tuple[Facts, Facts], allowed: Sequence[Normaliser]
) -> Iterator[Difference | Explained]:
    """Explain the difference between two members, or name its lines or bytes."""
    if max(a.size, b.size) > MAX_CONTENT:
        yield from _bytes(path, a, b)
        return
    left, right = a.read(0, a.size), b.read(0, b.size)
    names = normalise.explain_content(path, left, right, facts, allowed)
    if names is not None:
        for name in names:
            yield Explained(path=path, normaliser=name, detail=_shown(left, right))
        return
    if b"\0" in left or b"\0" in right:
        yield from _bytes(path, a, b)
        return
    rest_a = normalise.after_all(path, left, facts[0], allowed)
    rest_b = normalise.after_all(path, right, facts[1], allowed)
    if path.endswith(".dist-info/RECORD"):
        yield from _listed(path, rest_a, rest_b)
    else:
        yield from _lines(path, rest_a, rest_b)


def diff(
    path: str, a: Blob, b: Blob, facts: tuple[Facts, Facts], allowed: Sequence[Normaliser]
) -> tuple[list[str], list[str]]:
    """Two texts as a unified diff without context, but for what normalisers explain.

    Returns:
        headers of hunks and changed lines as they stand in the members, and the normalisers that
        explain the other lines; nothing for what is no UTF-8 text or too large, and for lines that
        a normaliser moves.
    """
    if max(a.size, b.size) > MAX_CONTENT:
        return [], []
    raw = (a.read(0, a.size), b.read(0, b.size))
    rest = [
        normalise.after_all(path, data, fact, allowed)
        for data, fact in zip(raw, facts, strict=True)
    ]
    try:
        shown = [data.decode("utf-8").splitlines() for data in raw]
    except UnicodeDecodeError:
        return [], []
    left, right = (data.decode("utf-8", "surrogateescape").splitlines() for data in rest)
    same = (len(left), len(right)) == (len(shown[0]), len(shown[1]))
    if not same or b"\0" in raw[0] + raw[1] or not _comparable(left, right):
        return [], []
    lines: list[str] = []
    others: tuple[list[str], list[str]] = ([], [])
    for tag, a0, a1, b0, b1 in _matcher(left, right).get_opcodes():
        if tag == "equal":
            others[0].extend(shown[0][a0:a1])
            others[1].extend(shown[1][b0:b1])
        else:
            lines.append(f"@@ -{a0 + 1},{a1 - a0} +{b0 + 1},{b1 - b0} @@")
            lines += [f"-{line}" for line in shown[0][a0:a1]]
            lines += [f"+{line}" for line in shown[1][b0:b1]]
    one, two = ("\n".join(side).encode() for side in others)
    return lines, normalise.explain_content(path, one, two, facts, allowed) or []


def _comparable(left: list[str], right: list[str]) -> bool:
    return max(len(left), len(right)) <= MAX_LINES and _alike(left, right) <= MAX_ALIKE


def _matcher(left: list[str], right: list[str]) -> difflib.SequenceMatcher[str]:
    return difflib.SequenceMatcher(None, left, right, autojunk=False)


def _shown(a: bytes, b: bytes) -> str:
    """The first line in which two texts differ."""
    for number, (left, right) in enumerate(zip(a.splitlines(), b.splitlines(), strict=False), 1):
        if left != right:
            return f"line {number}: {strings.both(left, right)}"
    return f"{len(a)} and {len(b)} bytes"


def _listed(path: str, a: bytes, b: bytes) -> Iterator[Difference]:
    """What one RECORD lists and the other does not: their order means nothing."""
    left, right = (Counter(data.decode("utf-8", "replace").splitlines()) for data in (a, b))
    only = [(line, "A") for line in left - right] + [(line, "B") for line in right - left]
    cause = "follows from the members that differ"
    for line, side in only[:MAX_SHOWN]:
        detail = f"only in {side}: {_line(line)}"
        yield Difference(path=path, kind="text-line", cause=cause, detail=detail)
    if len(only) > MAX_SHOWN or not only:
        more = f"{len(only) - MAX_SHOWN} more lines differ" if only else "only the order differs"
        yield Difference(path=path, kind="text-line", cause=cause, detail=more)


def _lines(path: str, a: bytes, b: bytes) -> Iterator[Difference]:
    kind = "python-line" if path.endswith((".py", ".pyi")) else "text-line"
    if path.endswith((".dist-info/METADATA", ".dist-info/WHEEL")):
        kind = "metadata"
    left, right = (
        a.decode("utf-8", "replace").splitlines(),
        b.decode("utf-8", "replace").splitlines(),
    )
    count = 0
    for number, one, two in _pairs(left, right):
        count += 1
        if count <= MAX_SHOWN:
            cause = _cause(path, kind, one, two)
            detail = f"line {number}: {_change(one, two)}"
            yield Difference(path=path, kind=kind, cause=cause, detail=detail)
    if count > MAX_SHOWN:
        detail = f"{count - MAX_SHOWN} more lines differ"
        yield Difference(path=path, kind=kind, cause="other sources", detail=detail)
    if not count:
        detail = "only line ends or the last line's end differ"
        yield Difference(path=path, kind=kind, cause="another line-end setting", detail=detail)


def _change(one: str, two: str) -> str:
    left, right = (_line(text) for text in (one, two))
    if not one:
        return f"added {right}"
    return f"{left} | {right}" if two else f"removed {left}"


def _line(text: str) -> str:
    """A line for a report, with what normalisers left of it."""
    readable = text.strip().replace("\ufffd{tfenv:", "{").replace("}\ufffd", "}")
    return strings.printable(readable.encode("ascii", "backslashreplace"), 200)


def _cause(path: str, kind: str, one: str, two: str) -> str:
    if kind == "metadata":
        if path.endswith("/WHEEL"):
            return "another platform tag, or another tool that made the wheel"
        return "another declaration in setup.py"
    told = causes.of_text(one.encode(), two.encode())
    return told if "source" not in told else "a changed line in the source"


def _pairs(left: list[str], right: list[str]) -> Iterator[tuple[int, str, str]]:
    """(line number in A, line of A, line of B) of each change."""
    if not _comparable(left, right):
        for index in range(max(len(left), len(right))):
            one = left[index] if index < len(left) else ""
            two = right[index] if index < len(right) else ""
            if one != two:
                yield index + 1, one, two
        return
    for tag, a0, a1, b0, b1 in _matcher(left, right).get_opcodes():
        if tag == "equal":
            continue
        for step in range(max(a1 - a0, b1 - b0)):
            one = left[a0 + step] if a0 + step < a1 else ""
            two = right[b0 + step] if b0 + step < b1 else ""
            yield min(a0 + step, a1) + 1, one, two


def _alike(left: list[str], right: list[str]) -> int:
    """How many pairs of equal lines there are, which is what difflib's time grows with."""
    counts = Counter(right)
    return sum(counts[line] for line in left)


def _bytes(path: str, a: Blob, b: Blob) -> Iterator[Difference]:
    kind = "bytecode" if path.endswith(".pyc") else "bytes"
    if a.size != b.size:
        detail = f"{a.size} bytes in A, {b.size} in B"
        yield Difference(path=path, kind=kind, cause="other content", detail=detail)
        return
    count = total = 0
    for part in ranges.differing(a, b, 0, 0, a.size):
        count += 1
        total += part.end - part.start
        if count <= MAX_SHOWN:
            one = a.read(part.start, part.end - part.start)
            two = b.read(part.start, part.end - part.start)
            detail = f"offset {part.start:#x}: {strings.both(one, two)}"
            cause = causes.of_text(one, two)
            yield Difference(path=path, kind=kind, cause=cause, detail=detail)
    if count > MAX_SHOWN:
        detail = f"{count} places, {total} bytes in all"
        yield Difference(path=path, kind=kind, cause="other content", detail=detail)
