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
            section, symbol, gpu-code, compiler, needs, bytes, record, version, declaration, ...
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


class Declared(msgspec.Struct, frozen=True, kw_only=True):
    """A difference that was declared beforehand, and is just that."""

    path: str
    detail: str


class Tally(msgspec.Struct, frozen=True, kw_only=True):
    """How much differs before anything is explained.

    Attributes:
        members, members_differing: on both sides, by content.
        library_bytes: of the differing libraries that have one size on both sides, in A.
        library_bytes_differing: how many of these are not the same in B.
    """

    members: int
    members_differing: int
    libraries_differing: int
    library_bytes: int
    library_bytes_differing: int


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
        declared: differences that were declared, which leave a verdict `equivalent`.
        tally: None where the contents were not read.
        released: the first of two builds against the published wheel, where that was asked for.
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
    declared: list[Declared] = []
    tally: Tally | None = None
    released: Audit | None = None
