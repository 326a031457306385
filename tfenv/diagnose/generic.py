"""Help where no signature fits: the first real error, where it is, and what is general about it."""

from __future__ import annotations

import re

from tfenv.diagnose.model import Evidence
from tfenv.diagnose.scan import Hit, Scan
from tfenv.diagnose.signatures import Library

_FILE = re.compile(
    r"(?:^|[\s(\"'])((?:[A-Za-z]:)?[\w./\\+-]{1,200}\.(?:cc|cpp|cu|c|h|hpp|cuh|py|S|s|bzl|go|td|proto))[:(,\"]"
)
_TARGET = re.compile(r"((?:@[\w.~-]+)?//[\w./+-]{0,200}(?::[\w./+-]{1,120})?)")

HELP = {
    "compiler": "The first compiler error counts; those after it mostly follow. Search the source tree's issues for its text, with the compiler's version.",
    "linker": "A symbol that is missing has no library on the link line, or a library of another version.",
    "python": "The last line of the first traceback names the error; the lowest frame in your own code, or in TensorFlow's, says where.",
    "bazel": "Bazel's first ERROR line names the rule; run it again with --verbose_failures to see the command and its output.",
    "tool": "A program ended with an error; its own message stands above this line.",
    "shell": "The shell could not run a program: it is not installed, or not on PATH for this step.",
}


def first_trouble(scan: Scan, library: Library) -> tuple[str, Hit] | None:
    """The most telling general failure of a log: its kind and its first line, or None."""
    found = [
        (library.trouble[index].rank, hits[0].line, library.trouble[index].kind, hits[0])
        for index, hits in scan.troubles.items()
        if hits
    ]
    if not found:
        return None
    _, _, kind, hit = min(found, key=lambda item: item[:2])
    return kind, hit


def describe(kind: str, evidence: Evidence) -> tuple[str, list[str]]:
    """A sentence about an unknown failure, and what to do with it."""
    around = [evidence.text, *evidence.before, *evidence.after]
    file = _first(_FILE, around)
    target = _first(_TARGET, around)
    where = f" in {file}" if file else f" in {target}" if target else ""
    what = f"No signature fits. The first {kind} error is on line {evidence.line}{where}."
    steps = [HELP[kind]]
    if target and file:
        steps.append(f"It belongs to {target}.")
    steps.append("tfenv explain LOG --new-case case.toml writes an anonymised report of this log.")
    return what, steps


def _first(pattern: re.Pattern[str], lines: list[str]) -> str:
    for line in lines:
        match = pattern.search(line)
        if match:
            return match.group(1)
    return ""
