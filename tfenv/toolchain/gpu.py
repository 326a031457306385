"""Cards and compute capabilities."""

from __future__ import annotations

import re

from tfenv import facts
from tfenv.errors import ConflictError
from tfenv.facts import schema
from tfenv.target import version_key

_CAPABILITY = re.compile(r"(?:sm_|compute_)?(\d{1,2})\.?(\d)")


def capability(text: str) -> tuple[str, str]:
    """The compute capability of a number (8.6, sm_86) or a card's name, and its source.

    Raises:
        ConflictError: the card is not in the table.
    """
    wanted = re.sub(r"[^a-z0-9._]", "", text.lower())
    if found := _CAPABILITY.fullmatch(wanted):
        return f"{found[1]}.{found[2]}", "given as a number"
    for row in facts.rows(schema.Gpu):
        names = {re.sub(r"[^a-z0-9._]", "", n.lower()) for n in (row.name, *row.aliases)}
        if wanted in names:
            return row.capability, f"{row.name}: {row.source}"
    raise ConflictError(
        f"the card '{text[:40]}' is not known",
        "its compute capability stands in no source that the facts were read from",
        "give the capability as a number, e.g. --gpu 8.6",
    )


def arch(cuda: str) -> schema.CudaArch | None:
    """The row of a CUDA version's minor."""
    minor = ".".join(cuda.split(".")[:2])
    return next(iter(facts.grouped(schema.CudaArch, "cuda").get((minor,), ())), None)


def first_cuda_for(sm: str) -> schema.CudaArch | None:
    """The first CUDA that compiles for a capability."""
    rows = [r for r in facts.rows(schema.CudaArch) if sm in r.sm]
    return min(rows, key=lambda r: version_key(r.cuda), default=None)


def sm_name(number: str) -> str:
    """8.6 -> sm_86."""
    return "sm_" + number.replace(".", "")
