"""From raw bytes of a log to messages: encodings, colours, prefixes, quotation marks.

Everything here works on one line or one chunk and keeps no state, so that a log of any size
is read in constant memory.
"""

from __future__ import annotations

import codecs
import re

_ANSI = re.compile(
    rb"\x1b(?:\[[0-9;:?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[()][A-Z0-9]|[=>78])"
)
_ANSI_REMAINS = re.compile(
    r"\[(?:\d{1,3}(?:;\d{1,3}){0,4})?m(?:\[K)?|\[K"
)  # its ESC got lost on the way
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060\ufeff]")
_SPACES = re.compile(r"\s{2,}|[\t\u00a0\u202f]")
QUOTES = str.maketrans(dict.fromkeys('"`´‘’‚‛“”„‟′″「」『』', "'"))
_GUILLEMETS = re.compile(r"[«‹»›]")
_GUILLEMETS_SPACED = re.compile(r"[«‹] | [»›]")

# What other programs put in front of a message, longest forms first. Each is bounded.
_PREFIXES = re.compile(
    r"""
      \#\d{1,4}\ (?:\d{1,6}\.\d{1,4}\ )?                       # BuildKit: "#12 3.817 "
    | =>\ =>\ \#\ ?                                            # BuildKit, condensed
    | [\w.-]{1,60}\ *\|\ (?=\S)                                # compose: "web_1  | "
    | \d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?\ (?:(?:stdout|stderr)\ [FP]\ )?
    | \[?\d\d:\d\d:\d\d(?:[.,]\d{1,6})?\]?\ +                  # "[12:00:01] "
    | \[\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[^\]]{0,20}\]\ *         # Jenkins
    | \#\#\[(?:error|warning|debug|group|command|notice)\]     # GitHub Actions, Azure
    | ::(?:error|warning|notice|debug)[^:]{0,200}::
    | \[\d{1,4},\d{1,4}\]<std(?:err|out)>:\ ?                  # mpirun
    | STEP\ \d{1,3}(?:/\d{1,3})?:\                             # podman, buildah
    | \[\d{1,6}/\d{1,6}\]\ (?=[A-Z])                           # ninja
    | \[\ *\d{1,3}%\]\                                         # make of CMake
    | \d{1,7}:\ (?=\S)                                         # slurm's srun --label: "0: "
    """,
    re.VERBOSE,
)
_PROMPT = re.compile(
    r"""^(?:\([\w.-]{1,40}\)\ )?                     # (venv)
    (?:[\w.-]{1,40}@[\w.-]{1,64}[:\ ][^$#%>]{0,120}[$#%](?:\ |$)
     | \[[\w.-]{1,40}@[\w.-]{1,64}\ [^\]]{0,120}\][$#](?:\ |$)
     | [A-Za-z]:\\[^<>|"*?]{0,120}>
     | PS\ [^>]{1,120}>
     | \$\ | >>>\ | \.\.\.\ | \+\+?\ (?=[\w./-]) | In\ \[\d{1,5}\]:\ )""",
    re.VERBOSE,
)
_SOURCE_QUOTE = re.compile(r"\s{0,12}\d{1,6} \|(?: |$)")
_WINDOWS_PROMPT = re.compile(r"(?:\([\w.-]{1,40}\) )?(?:PS )?[A-Za-z]:\\")
MAX_LINE = 4000  # characters of a line that are looked at around a place of interest


def encoding_of(head: bytes) -> str:
    """The encoding of a log, from its first bytes: utf-16-le, utf-16-be or utf-8.

    PowerShell's `>` writes UTF-16 with a mark; some tools leave the mark out, which shows in
    every second byte being zero.
    """
    if head.startswith(codecs.BOM_UTF16_LE):
        return "utf-16-le"
    if head.startswith(codecs.BOM_UTF16_BE):
        return "utf-16-be"
    sample = head[:2000]
    half = max(len(sample) // 2, 1)
    if len(sample) >= 8 and sample[1::2].count(0) / half > 0.6:
        return "utf-16-le"
    if len(sample) >= 8 and sample[0::2].count(0) / half > 0.6:
        return "utf-16-be"
    return "utf-8"


def strip_colours(chunk: bytes) -> bytes:
    """Take terminal control sequences out; the number of lines stays."""
    return _ANSI.sub(b"", chunk) if b"\x1b" in chunk else chunk


def decode(raw: bytes) -> str:
    """One line as text: UTF-8, else GB 18030 (Chinese Windows), else Latin-1."""
    for encoding in ("utf-8", "gb18030"):
        try:
            return raw.decode(encoding)
        except UnicodeDecodeError:
            continue
    return raw.decode("latin-1")


def display(raw: bytes) -> str:
    """A line as it may be shown: no control characters, no trailing space."""
    return _CONTROL.sub("", decode(raw[:MAX_LINE]).replace("\t", "    ")).rstrip()


def unprefixed(text: str) -> str:
    """A line without control characters and without what other programs put before it."""
    text = _CONTROL.sub("", text.strip())
    if "[K" in text or "[0m" in text or "[m" in text:
        text = _ANSI_REMAINS.sub("", text)
    for _ in range(4):
        match = _PREFIXES.match(text)
        if match is None:
            break
        text = text[match.end() :].lstrip()
    return text


def message(text: str) -> str:
    """The normal form that templates match: prefixes off, one kind of quotation mark, single
    spaces, no control characters."""
    text = unprefixed(text).translate(QUOTES)
    if "«" in text or "»" in text or "‹" in text:
        text = _GUILLEMETS.sub("'", _GUILLEMETS_SPACED.sub("'", text.replace("\u00a0", " ")))
    return _SPACES.sub(" ", text).strip()


def is_command(text: str) -> bool:
    """Whether a line is what a person typed (a prompt with a command), not what a tool said."""
    return _PROMPT.match(text) is not None


def is_source_quote(text: str) -> bool:
    """Whether a line is source code that a compiler quotes under its message (`  33 | x = 1;`)."""
    return _SOURCE_QUOTE.match(text) is not None


def is_windows_prompt(text: str) -> bool:
    """Whether a prompt is one of Windows: a drive and a backslash."""
    return _WINDOWS_PROMPT.match(text) is not None


def command_of(text: str) -> str:
    """The command of a prompt line, or an empty string."""
    match = _PROMPT.match(text)
    return text[match.end() :].strip() if match else ""
