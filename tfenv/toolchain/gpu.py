"""Cards and compute capabilities."""

from __future__ import annotations

import functools
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
    wanted = "".join(_words(text))
    number = re.sub(r"[^a-z0-9._]", "", text.lower())
    rows = _by_name()
    found = _CAPABILITY.fullmatch(number)
    # 950 is a card, 120 is sm_120.
    if found and (wanted not in rows or first_cuda_for(f"{found[1]}.{found[2]}")):
        return f"{found[1]}.{found[2]}", "given as a number"
    for name in (wanted, "".join(_bare(text)), "".join(_bare(text)).removeprefix("geforce")):
        if name in rows:
            return rows[name].capability, f"{rows[name].name}: {rows[name].source}"
    import difflib

    bare = "".join(_bare(text))
    near = [name for name in rows if bare and bare in name]
    near = near or difflib.get_close_matches(bare, rows, n=3, cutoff=0.75)
    like = ", ".join(list(dict.fromkeys(rows[name].name for name in near))[:3])
    raise ConflictError(
        f"the card '{text[:40]}' is not known",
        "its compute capability stands in no source that the facts were read from",
        f"{f'did you mean {like}? or ' if like else ''}give the capability as a number, "
        "e.g. --gpu 8.6 (nvidia-smi --query-gpu=compute_cap --format=csv)",
    )


# What a driver or a shop writes behind a card's name: its form, memory and housing.
_BESIDE = re.compile(
    r"nvidia|pcie|sxm\d?|nvl|hbm\d[a-z]?|\d+gb|laptop|gpu|mobile|maxq|max|q|generation|edition"
    r"|server|workstation"
)
# Housings of one Kepler card: K20m, K40c, K20Xm.
_HOUSED = re.compile(r"(k[1248]0)(xm|st|[cmxstd])")


def _words(text: str) -> list[str]:
    return re.findall(r"[a-z0-9]+", text.lower())


def _bare(text: str) -> list[str]:
    """The words of a card's name without those that do not change its capability."""
    words = [word for word in _words(text) if not _BESIDE.fullmatch(word)]
    return [_HOUSED.sub(r"\1", word) if _HOUSED.fullmatch(word) else word for word in words]


@functools.cache
def _by_name() -> dict[str, schema.Gpu]:
    """Every card by each of its names, written together."""
    return {
        "".join(_words(name)): row
        for row in facts.rows(schema.Gpu)
        for name in (row.name, *row.aliases)
    }


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


def dotted(name: str) -> str:
    """sm_86 and compute_86 -> 8.6."""
    digits = name.rpartition("_")[2].rstrip("af")
    return f"{digits[:-1]}.{digits[-1]}"
