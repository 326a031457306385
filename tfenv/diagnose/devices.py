"""What the facts tables know of GPUs and CUDA versions, for logs and machines alike."""

from __future__ import annotations

import functools
import re

from tfenv import facts
from tfenv.diagnose import versions
from tfenv.facts.schema import CudaArch, Gpu


def capability(name: str) -> str:
    """The compute capability of a card by the name that drivers print, or an empty string."""
    wanted = _plain(name)
    for row in facts.rows(Gpu):
        if _plain(row.name) == wanted:
            return row.capability
    for row in sorted(facts.rows(Gpu), key=lambda r: -len(r.name)):
        if re.search(rf"\b{re.escape(_plain(row.name))}\b", wanted):
            return row.capability
    return ""


def _plain(name: str) -> str:
    words = re.sub(r"[^a-z0-9]+", " ", name.lower()).split()
    return " ".join(
        w for w in words if w not in {"nvidia", "geforce", "tesla", "quadro", "gpu", "laptop"}
    )


@functools.cache
def _arch(cuda: str) -> CudaArch | None:
    rows = {row.cuda: row for row in facts.rows(CudaArch)}
    minor = versions.minor(cuda)
    if minor in rows:
        return rows[minor]
    same = [row for row in rows.values() if versions.key(row.cuda)[:1] == versions.key(cuda)[:1]]
    return max(same, key=lambda row: versions.key(row.cuda)) if same else None


def newest_capability(cuda: str) -> str:
    """The newest compute capability that a CUDA version generates code for.

    The runtime's soname of CUDA 11 and later names only the major version (`11.0`, `12`): then
    the newest minor counts, since any of them may be installed.
    """
    number = versions.key(cuda)
    major_only = len(number) == 1 and number >= (11,)
    if major_only:
        rows = [row for row in facts.rows(CudaArch) if versions.key(row.cuda)[:1] == number]
        row = max(rows, key=lambda r: versions.key(r.cuda)) if rows else None
    else:
        row = _arch(cuda)
    return row.sm[-1] if row and row.sm else ""


def capabilities(cuda: str) -> list[str]:
    """All compute capabilities that a CUDA version generates code for; empty: not known."""
    row = _arch(cuda)
    return list(row.sm) if row else []


@functools.cache
def known_capabilities() -> frozenset[str]:
    """Every compute capability that any CUDA version has known."""
    return frozenset(sm for row in facts.rows(CudaArch) for sm in row.sm)


def spans(sm: str) -> tuple[str, str]:
    """The first and the last CUDA version that generate code for a compute capability."""
    having = sorted((r.cuda for r in facts.rows(CudaArch) if sm in r.sm), key=versions.key)
    return (having[0], having[-1]) if having else ("", "")


def newest_cuda() -> str:
    """The newest CUDA version of the tables."""
    return max((row.cuda for row in facts.rows(CudaArch)), key=versions.key)


def first_cuda() -> str:
    """The oldest CUDA version of the tables: what came before is not known."""
    return min((row.cuda for row in facts.rows(CudaArch)), key=versions.key)


def driver_minimum(cuda: str, *, windows: bool = False) -> str:
    """The oldest driver that runs a CUDA version.

    On Linux, CUDA 11 and later run with any driver of their major version (minor-version
    compatibility, NVIDIA's "CUDA Compatibility"): 450.80.02 for 11.x, 525.60.13 for 12.x.
    """
    row = _arch(cuda)
    if row is None:
        return ""
    if not windows and row.driver_linux_min:
        return row.driver_linux_min
    listed = row.driver_windows if windows else row.driver_linux
    return min((item.split(":")[-1] for item in listed), key=versions.key, default="")
