"""What signatures are made of, and what an explanation is."""

from __future__ import annotations

from typing import Literal

import msgspec

Phase = Literal[
    "configure", "fetch", "compile", "link", "package", "install", "import", "runtime",
    "docker", "conda",
]  # fmt: skip
Confidence = Literal["high", "medium", "low"]
DEFINITE, STRONG, WEAK = 3, 2, 1


class _Frozen(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    pass


class Alternative(_Frozen, frozen=True):
    """Another cause that shows the same line, and the fact that tells them apart."""

    cause: str
    fact: str


class Signature(_Frozen, frozen=True):
    """A kind of message and what it means.

    Attributes:
        cause: a name from causes.toml.
        match: templates, any of which is enough (see tfenv.diagnose.template).
        without: texts that the line must not hold.
        when: conditions on captures and on what else the log says (see tfenv.diagnose.facts).
        derive: a function that adds to the captures what the facts tables know.
        strength: 3 names the cause, 2 points to it, 1 is often a mere symptom.
        supersedes: causes whose messages are consequences of this one.
        alternatives: causes that cannot be told apart by this line alone.
        note: what a misleading message really says.
        example: a line that matches; tests and documents use it, the search does not.
    """

    cause: str
    phase: Phase
    match: list[str]
    example: str
    without: list[str] = []
    when: list[str] = []
    derive: str = ""
    strength: Literal[1, 2, 3] = 3
    supersedes: list[str] = []
    alternatives: list[Alternative] = []
    note: str = ""


class Clue(_Frozen, frozen=True):
    """Something a log says about the machine or the run: a version, a platform, a device.

    `where` limits it to what a tool printed, or to what a person typed.
    """

    name: str
    match: list[str]
    where: Literal["output", "command", "any"] = "any"
    value: str = ""  # what it stands for, where the template captures nothing
    without: list[str] = []


class Outcome(_Frozen, frozen=True):
    """A line after which failures of these phases, further up, no longer matter.

    `then` is how the next line that is not empty must begin.
    """

    match: list[str]
    clears: list[Phase]
    without: list[str] = []
    then: str = ""


class Remark(_Frozen, frozen=True):
    """A line that looks alarming and is not."""

    match: list[str]
    why: str


class Trouble(_Frozen, frozen=True):
    """The general form of an error message, for logs that no signature explains.

    `rank` orders them: the lowest rank that occurs is shown, its first line.
    """

    kind: str
    match: list[str]
    rank: int
    without: list[str] = []
    phase: Phase = "compile"


class Cause(_Frozen, frozen=True):
    """A root cause in words. `fix` lines are templates, see tfenv.diagnose.fixes."""

    category: str
    title: str
    why: str
    fix: list[str]
    source: str


class Evidence(_Frozen, frozen=True):
    """The line that shows it: its number counts from 1; `before` and `after` are its neighbours."""

    line: int
    text: str
    before: list[str] = []
    after: list[str] = []


class Undecided(_Frozen, frozen=True):
    """Another cause that the log does not rule out, and the fact that would decide."""

    root_cause: str
    decided_by: str


class Other(_Frozen, frozen=True):
    """Something else found in the log: a consequence of the root cause, or a second failure."""

    root_cause: str
    relation: Literal["consequence", "also"]
    evidence: Evidence


class Explanation(_Frozen, frozen=True):
    """The answer of `tfenv explain`. `root_cause` is `none` for a log without a failure and
    `unknown` where no signature fits."""

    root_cause: str
    confidence: Confidence
    evidence: Evidence | None
    cause: str
    why: str
    fix: list[str]
    source: str
    title: str = ""
    phase: str = ""
    undecided: list[Undecided] = []
    others: list[Other] = []
    harmless: list[str] = []
    versions: dict[str, str] = {}
    target: str = ""
