"""What is known when a condition of a signature is judged: captures, clues, and what follows.

A condition is one of
    name          the name has a value
    !name         it has none
    name=text     its value is this text
    a<b  a>=b …   versions; each side is a name or a number
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from tfenv.diagnose import gpu, versions
from tfenv.diagnose.scan import Scan

_COMPARE = re.compile(r"([\w.]+)\s*(<=|>=|<|>)\s*([\w.]+)\Z")
_EQUAL = re.compile(r"(\w+)=(.+)\Z")


class Context:
    """Answers conditions for one scan.

    `given` holds facts that the user states (the target's version and platform); they win over
    the log's.
    """

    def __init__(self, scan: Scan, given: Mapping[str, str] | None = None) -> None:
        self._clues = scan.clues
        self.given = dict(given or {})
        self.follows = {**_simple(scan), **gpu.state(scan)}

    def values(self, name: str) -> list[str]:
        """All values of a clue, in the order of the log."""
        return [value for _, value in self._clues.get(name, ())]

    def value(self, name: str, line: int = 1 << 62) -> str:
        """The value of `name` at `line`: the nearest one before it, else the first after it."""
        if name in self.given:
            return self.given[name]
        if name in self.follows:
            return self.follows[name]
        found = self._clues.get(name, ())
        before = [value for number, value in found if number <= line]
        return before[-1] if before else found[0][1] if found else ""

    def holds(self, condition: str, captures: Mapping[str, str], line: int) -> bool:
        """Whether one condition is true for a hit with these captures at this line."""

        def look(name: str) -> str:
            return captures[name] if name in captures else self.value(name, line)

        if condition.startswith("!"):
            return not look(condition[1:])
        compared = _COMPARE.match(condition)
        if compared:
            left, operator, right = compared.groups()
            return versions.compare(
                left if left[0].isdigit() else look(left),
                operator,
                right if right[0].isdigit() else look(right),
            )
        equal = _EQUAL.match(condition)
        if equal:
            return look(equal.group(1)) == equal.group(2)
        return bool(look(condition))


def _simple(scan: Scan) -> dict[str, str]:
    def has(*names: str) -> bool:
        return any(scan.clues.get(name) for name in names)

    platforms = [value for _, value in scan.clues.get("conda_platform", ())]
    none = ("osx", "win-arm", "linux-aarch64", "linux-ppc", "linux-s390")
    no_gpu = any(p.startswith(none) for p in platforms)
    no_gpu = no_gpu or (has("conda_cuda_build") and "win-64" in platforms)
    return {
        "conda_no_gpu_platform": "yes" if no_gpu else "",
        "clang_cuda": "yes" if has("clang_cuda") else "",
        "windows_or_any": "yes",
    }
