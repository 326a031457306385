"""What an audit says. Field names are the contract of `audit --json`."""

from __future__ import annotations

from typing import Literal

import msgspec

SCHEMA = "tfenv.audit/1"
Verdict = Literal["identical", "equivalent", "different"]


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """Something that no normaliser explains.

    Attributes:
        path: the member, by its name in A where it has one there.
        kind: what differs: member, mode, python-line, text-line, instruction, constant,
            section, symbol, gpu-code, compiler, needs, bytes, record, ...
        cause: the most likely reason.
        detail: where, and both values.
    """

    path: str
    kind: str
    cause: str
    detail: str


class Explained(msgspec.Struct, frozen=True, kw_only=True):
    """A difference that vanished after a named normaliser."""

    path: str
    normaliser: str
    detail: str


class Side(msgspec.Struct, frozen=True, kw_only=True):
    """One of the two things compared. `sha256` is empty for a folder."""

    path: str
    kind: str
    sha256: str
    members: int
    bytes: int
    version: str


class Audit(msgspec.Struct, kw_only=True):
    """The result.

    Attributes:
        trusted: what was taken on trust: nothing, or the two RECORDs.
        varied: what differed between two builds that were made to be compared.
    """

    schema: str = SCHEMA
    verdict: Verdict
    normalisers: list[str]
    differences: list[Difference]
    explained: list[Explained]
    a: Side
    b: Side
    trusted: str = ""
    varied: list[str] = []
