"""Explain a log: root cause, the line that shows it, why, and the fix for this target."""

from __future__ import annotations

import functools
import io
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from tfenv.diagnose import decide, fixes, generic
from tfenv.diagnose.context import Context
from tfenv.diagnose.decide import Candidate
from tfenv.diagnose.model import (
    DEFINITE,
    WEAK,
    Confidence,
    Explanation,
    Other,
    Undecided,
)
from tfenv.diagnose.scan import Scan, Scanner
from tfenv.diagnose.signatures import Library, causes, library, messages

if TYPE_CHECKING:
    from tfenv.target import Target

NONE, UNKNOWN = "none", "unknown"
_SHOWN = ("python_version", "tf_version", "cuda_seen", "bazel_version", "gcc_version",
          "driver_version", "pip_version", "numpy_version", "protobuf_version")  # fmt: skip


@functools.cache
def scanner(engine: str = "auto") -> Scanner:
    """The scanner of the shipped signatures."""
    return Scanner(library(), engine=engine)


def explain_file(path: Path, target: Target | None = None, language: str = "en") -> Explanation:
    """Explain a log file of any size."""
    with path.open("rb") as stream:
        return explain_stream(stream, target, language)


def explain_text(
    text: str | bytes, target: Target | None = None, language: str = "en"
) -> Explanation:
    """Explain a log in memory, for the build driver and the verifier."""
    data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogateescape")
    return explain_stream(io.BytesIO(data), target, language)


def explain_stream(
    stream: BinaryIO, target: Target | None = None, language: str = "en"
) -> Explanation:
    """Explain what `stream` holds."""
    scan = scanner().scan(stream)
    pins = fixes.of_target(target) if target else {}
    context = Context(scan, fixes.clues_of(target, pins) if target else None)
    found = decide.candidates(scan, library(), context)
    remarks = [library().remark[index].why for index in scan.remarks]
    shared = {"harmless": sorted(set(remarks)), "versions": _versions(context)}
    if found:
        if not pins:
            pins = _guessed(context, found[0])
        answer = _explained(found, pins, language)
    else:
        answer = _unexplained(scan, library(), language)
    return _replace(answer, target=target.name if target else "", **shared)


def _explained(found: list[Candidate], pins: Mapping[str, str], language: str) -> Explanation:
    root, *rest = found
    words = causes(language)[root.cause]
    table = messages(language)
    known = {**root.captures, **pins}
    undecided = [
        Undecided(root_cause=a.cause, decided_by=table.get(a.fact, a.fact))
        for a in root.alternatives
        if a.cause != root.cause
    ]
    note = table.get(root.signature.note, root.signature.note)
    why = " ".join(filter(None, [words.why, note]))
    return Explanation(
        root_cause=root.cause,
        confidence=_confidence(root, undecided),
        evidence=root.hit.evidence,
        title=words.title,
        cause=" ".join(fixes.fill([words.title + "."], known)),
        why=" ".join(fixes.fill([why], known)) or words.why,
        fix=fixes.fill(words.fix, known),
        source=words.source,
        phase=root.signature.phase,
        undecided=undecided,
        others=[_other(candidate) for candidate in rest if _worth_telling(candidate, root)],
    )


def _confidence(root: Candidate, undecided: list[Undecided]) -> Confidence:
    if undecided:
        return "medium" if root.strength == DEFINITE else "low"
    if root.strength == WEAK:
        return "low"
    return "high" if root.strength == DEFINITE else "medium"


def _other(candidate: Candidate) -> Other:
    return Other(
        root_cause=candidate.cause,
        relation="consequence" if candidate.superseded_by else "also",
        evidence=candidate.hit.evidence,
    )


def _worth_telling(candidate: Candidate, root: Candidate) -> bool:
    return bool(candidate.superseded_by) or candidate.strength >= min(root.strength, DEFINITE - 1)


def _unexplained(scan: Scan, lib: Library, language: str) -> Explanation:
    say = messages(language).get
    trouble = generic.first_trouble(scan, lib)
    if trouble is None:
        words = causes(language)[NONE]
        return Explanation(
            root_cause=NONE, confidence="high", evidence=None, title=words.title,
            cause=words.title + ".", why=words.why, fix=[], source=words.source,
        )  # fmt: skip
    kind, hit = trouble
    what, steps = generic.describe(kind, hit.evidence)
    return Explanation(
        root_cause=UNKNOWN,
        confidence="low",
        evidence=hit.evidence,
        title=say("A failure that no signature knows", "A failure that no signature knows"),
        cause=what,
        why=say(generic.HELP[kind], generic.HELP[kind]),
        fix=[say(step, step) for step in steps],
        source="",
        phase="",
    )


def _guessed(context: Context, root: Candidate) -> dict[str, str]:
    """Without a target, the log's own TensorFlow version says which pins to name."""
    version = context.value("tf_version", root.hit.line)
    platform = "windows" if context.value("windows") else ""
    wants_cuda = root.signature.phase == "runtime" or bool(context.value("cuda_seen"))
    return fixes.guess(version, cuda=wants_cuda, platform=platform)


def _versions(context: Context) -> dict[str, str]:
    return {name: value for name in _SHOWN for value in [context.value(name)] if value}


def _replace(answer: Explanation, **changes: object) -> Explanation:
    import msgspec

    return msgspec.structs.replace(answer, **changes)
