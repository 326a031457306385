"""From hits to one root cause: which of the known messages came first, which only follow.

Order: a cause that another one supersedes is a consequence. Of the rest the definite ones come
before the likely ones, and the earlier line before the later.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tfenv.diagnose import derive
from tfenv.diagnose.context import Context
from tfenv.diagnose.model import WEAK, Alternative, Signature
from tfenv.diagnose.scan import Hit, Scan
from tfenv.diagnose.signatures import Library


@dataclass
class Candidate:
    """A cause that at least one line of the log supports."""

    cause: str
    signature: Signature
    hit: Hit
    captures: dict[str, str]
    strength: int
    supersedes: set[str] = field(default_factory=set)
    superseded_by: str = ""
    alternatives: list[Alternative] = field(default_factory=list)


def candidates(scan: Scan, library: Library, context: Context) -> list[Candidate]:
    """All causes that the log supports, the root cause first."""
    found: dict[str, Candidate] = {}
    for index, hits in scan.signatures.items():
        signature = library.signature[index]
        for hit in hits:
            captures = _judge(signature, hit, context)
            if captures is not None:
                _add(
                    found, Candidate(signature.cause, signature, hit, captures, signature.strength)
                )
                break
    _mark_consequences(found)
    return sorted(found.values(), key=lambda c: (bool(c.superseded_by), -c.strength, c.hit.line))


def _judge(signature: Signature, hit: Hit, context: Context) -> dict[str, str] | None:
    captures = dict(hit.captures)
    if signature.derive:
        captures |= derive.FUNCTIONS[signature.derive](captures, context, hit.line)
    holds = all(context.holds(condition, captures, hit.line) for condition in signature.when)
    return captures if holds else None


def _add(found: dict[str, Candidate], new: Candidate) -> None:
    """Keep, per cause, the strongest hit, of equals the earliest; all of them supersede."""
    new.supersedes = set(new.signature.supersedes)
    new.alternatives = list(new.signature.alternatives)
    old = found.get(new.cause)
    if old is None:
        found[new.cause] = new
        return
    best, rest = (
        (new, old) if (-new.strength, new.hit.line) < (-old.strength, old.hit.line) else (old, new)
    )
    best.supersedes |= rest.supersedes
    if not rest.alternatives and rest.strength > WEAK:
        best.alternatives = []  # a line that leaves no doubt settles the cause
    found[new.cause] = best


def _mark_consequences(found: dict[str, Candidate]) -> None:
    for one in found.values():
        for other in found.values():
            mutual = one.cause in other.supersedes
            if other.cause in one.supersedes and not (mutual and other.hit.line < one.hit.line):
                other.superseded_by = other.superseded_by or one.cause
    if found and all(c.superseded_by for c in found.values()):
        min(found.values(), key=lambda c: c.hit.line).superseded_by = ""
