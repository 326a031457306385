"""The pattern language of signatures: a tool's own message with its variable parts named.

A template is the message text as the tool prints it. Special characters:

    {name}         a word: letters, digits, `_ . + -`        captured as `name`
    {name:kind}    a part of a named kind (see KINDS)         captured as `name`
    {name:any}     anything, at most 300 characters           captured as `name`
    {*}            the same, not captured
    {a|b|c}        one of several texts; an empty one makes the part optional
    ^ at the start the message begins here, after prefixes of other tools are taken off
    $ at the end   the line ends here
    '              any quotation mark
    a space        one space (runs of blanks are folded); two spaces: none or one

Everything else stands for itself. A template is cut at its gaps into segments, which are looked
for one after the other, leftmost first and without going back: time grows with the length of
the line and never faster, whatever the line holds.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass

from tfenv.diagnose.lines import QUOTES
from tfenv.errors import FileFormatError

KINDS: Mapping[str, str] = {
    "word": r"[\w.+-]{1,200}",
    "int": r"-?\d{1,12}",
    "hex": r"(?:0x)?[0-9a-fA-F]{1,64}",
    "ver": r"\d{1,6}(?:\.\d{1,9}){0,4}(?:[-.]?(?:rc|dev|post|b|a)\.?\d{1,9})?",
    "path": r"[^\s']{1,300}",
    "rest": r".{0,400}",
}
_GAP = 300  # characters that `{*}` and `{x:any}` may span
_STARTS = 40  # places in one line at which a template is tried
_TOKEN = re.compile(r"\{([^{}]*)\}|(\s+)|([^{}\s]+)")
_NAMED = re.compile(r"([a-z_]+)(?::([a-z]+))?\Z")
_PAUSE = re.compile(r"(?<=[:.!,]) (?=\S)")
_COMMON = frozenset(
    [
        "tensorflow",
        "error",
        "error:",
        "Error",
        "Error:",
        "ERROR:",
        "python",
        "Python",
        "numpy",
        "bazel",
        "test",
        "from",
        "keras",
        "warning",
        "passed",
        "nvidia",
        "build",
        "version",
        "failed",
        "major:",
        "Device",
        "fatal:",
        "COMMIT",
        "Error(",
        "Compiling",
        "Linking",
        "Executing",
        "not found",
        "No such file",
        "No such file or directory",
    ]
)  # texts of every other log
_SELECTIVE = 8  # characters: enough to be rare in a log
_USEFUL = 4  # bytes: a shorter literal is in every other line


@dataclass(frozen=True)
class _Segment:
    pattern: str
    gap: str  # name that takes the text between the segment before and this one; "" is none

    @property
    def regex(self) -> re.Pattern[str]:
        """Compiled when first needed: most templates never meet a line."""
        return _compiled(self.pattern)


@functools.cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


@dataclass(frozen=True)
class Template:
    """A compiled template.

    Attributes:
        text: as written.
        literals: texts of which at least one is in every line that matches.
    """

    text: str
    segments: tuple[_Segment, ...]
    literals: tuple[str, ...]

    def match(self, message: str) -> dict[str, str] | None:
        """The captured parts if `message` (in normal form) holds the template, else None."""
        for tries, first in enumerate(self.segments[0].regex.finditer(message)):
            if tries == _STARTS:
                break
            captures = self._rest(message, first)
            if captures is not None:
                return captures
        return None

    def _rest(self, message: str, first: re.Match[str]) -> dict[str, str] | None:
        captures = _groups(first)
        end = first.end()
        for segment in self.segments[1:]:
            found = segment.regex.search(message, end, end + _GAP + 400)
            if found is None or found.start() - end > _GAP:
                return None
            if segment.gap:
                captures[segment.gap] = message[end : found.start()]
            captures.update(_groups(found))
            end = found.end()
        return captures


def _groups(match: re.Match[str]) -> dict[str, str]:
    return {name: value for name, value in match.groupdict().items() if value is not None}


class _Builder:
    """Collects segments and literal runs while the tokens of one template go by."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.segments: list[_Segment] = []
        self.pattern = ""
        self.gap = ""
        self.runs = [""]
        self.choices: list[tuple[str, ...]] = []

    def literal(self, literal: str) -> None:
        self.pattern += re.escape(literal)
        first, *others = literal.split("'")
        self.runs[-1] += first
        self.runs += others

    def blank(self, width: int) -> None:
        self.pattern += " " if width == 1 else " ?"
        if width == 1:
            self.runs[-1] += " "
        else:
            self.runs.append("")

    def hole(self, hole: str) -> None:
        self.runs.append("")
        if "|" in hole:
            choices = hole.split("|")
            self.pattern += "(?:" + "|".join(map(re.escape, choices)) + ")"
            self.choices.append(tuple(_longest([choice]) for choice in choices))
            return
        match = _NAMED.match(hole)
        if hole == "*" or (match and match.group(2) == "any"):
            self.cut("" if match is None else match.group(1))
        elif match is None or (match.group(2) or "word") not in KINDS:
            raise _bad(self.text, f"'{{{hole}}}' is not a part that this language has")
        else:
            self.pattern += f"(?P<{match.group(1)}>{KINDS[match.group(2) or 'word']})"

    def cut(self, gap: str) -> None:
        if self.pattern:
            self.segments.append(_Segment(self.pattern, self.gap))
        self.pattern, self.gap = "", gap


def compile_template(text: str) -> Template:
    """Compile one template.

    Raises:
        FileFormatError: an unknown kind, or no literal text that a search could look for.
    """
    text = text.translate(QUOTES)
    start, end = text.startswith("^"), text.endswith("$")
    builder = _Builder(text)
    builder.pattern = r"\A" if start else ""
    for match in _TOKEN.finditer(text[int(start) : len(text) - int(end)]):
        hole, blank, literal = match.groups()
        if literal is not None:
            builder.literal(literal)
        elif blank is not None:
            builder.blank(len(blank))
        else:
            builder.hole(hole)
    builder.pattern += r"\Z" if end else ""
    builder.cut("")
    return Template(text, tuple(builder.segments), _literals(builder))


def _longest(runs: list[str]) -> str:
    """The longest telling piece of literal text.

    Pieces are cut after `: ` and `. `, where tools often print two spaces, if what is left is
    still long. A word that is in every log counts only where nothing else is there, and then
    with the blank beside it.
    """
    pieces = [piece for run in runs for piece in run.split("'")]
    cut = [part for piece in pieces for part in _PAUSE.split(piece)]
    telling = [p.strip() for p in cut if p.strip() not in _COMMON]
    best = max(telling, key=len, default="")
    if len(best) >= _SELECTIVE:
        return best
    whole = [p.strip() for p in pieces if p.strip() not in _COMMON]
    best = max(whole, key=len, default="")
    return best if _weight(best) >= _USEFUL else max(pieces, key=len, default="")


def _literals(builder: _Builder) -> tuple[str, ...]:
    best = _longest(builder.runs)
    for choice in builder.choices:
        shortest = min(map(_weight, choice))
        if shortest >= _USEFUL and (_weight(best) < _USEFUL or shortest > max(_weight(best), 7)):
            return choice
    if _weight(best) < _USEFUL:
        raise _bad(builder.text, "it has no literal text that a search could look for")
    return (best,)


def _weight(text: str) -> int:
    return len(text.encode("utf-8"))


def _bad(text: str, why: str) -> FileFormatError:
    return FileFormatError(f"the pattern {text!r} cannot be used", why, "correct the signature")
