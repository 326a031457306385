"""Compare version numbers as tools print them: 2.6.5, 0x10, 8.1.0, 5110."""

from __future__ import annotations

import re

_PART = re.compile(r"\d+")


def key(text: str) -> tuple[int, ...]:
    """A sortable form: the numbers in `text`, without trailing zeros. `0x..` is one number."""
    if text.lower().startswith("0x"):
        try:
            return (int(text, 16),)
        except ValueError:
            return ()
    numbers = [int(part) for part in _PART.findall(text.split("rc", maxsplit=1)[0])[:6]]
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers)


def minor(text: str) -> str:
    """The first two numbers, joined: `3.7.16` to `3.7`. A bare `37` or `311` is Python's short
    form for 3.7 and 3.11."""
    numbers = _PART.findall(text)
    if len(numbers) == 1 and len(numbers[0]) in (2, 3) and numbers[0][0] in "23":
        return f"{numbers[0][0]}.{numbers[0][1:]}"
    return ".".join(numbers[:2])


def compare(left: str, operator: str, right: str) -> bool:
    """`left operator right` for <, <=, >, >=; False where either side has no number."""
    a, b = key(left), key(right)
    if not left or not right or not (a or b):
        return False
    return {"<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b}[operator]
