"""A card that a CUDA cannot compile for: why, and what is left to whoever has it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tfenv import facts
from tfenv.errors import ConflictError
from tfenv.facts import schema
from tfenv.target import Target, Version, catalogue, version_key, within
from tfenv.toolchain import gpu, lookup
from tfenv.toolchain.pairs import pairs


def refuse(target: Target, cuda_version: str, wanted: tuple[str, str]) -> None:
    """Refuse a CUDA that does not compile for a card.

    Args:
        target: what is built.
        cuda_version: the CUDA.
        wanted: the compute capability, and where it is known from.

    Raises:
        ConflictError: it does not; the message says what is left.
    """
    sm, source = wanted
    _refuse_too_old(target, sm, source)
    row = gpu.arch(cuda_version)
    if row is None or not row.sm or sm in row.sm:
        return
    name = gpu.sm_name(sm)
    first = gpu.first_cuda_for(sm)
    old = version_key(sm) < version_key(row.sm[0])
    if old:
        why = f"CUDA {row.cuda} compiles for {gpu.sm_name(row.sm[0])} and newer ({row.source})"
    elif first is None:
        why = f"no CUDA in the facts compiles for {name} ({row.source})"
    else:
        why = f"CUDA {first.cuda} is the first that knows {name} ({first.source})"
    raise ConflictError(
        f"CUDA {row.cuda} cannot compile for compute capability {sm} ({name}; {source})",
        why,
        "; or ".join(_left(target, row, sm, old=old)),
    )


def compiles_for(target: Target, sm: str) -> bool:
    """Whether a CUDA that the release is known with compiles for a card, and TensorFlow has code."""
    known = [gpu.arch(pair.cuda) for pair in pairs(target)] if target.cuda else []
    return any(row and sm in row.sm for row in known) and not _too_old(target, sm)


def _refuse_too_old(target: Target, sm: str, source: str) -> None:
    """What TensorFlow itself has no code for, whatever CUDA can do."""
    if (row := _too_old(target, sm)) is not None:
        raise ConflictError(
            f"TensorFlow {target.version} has no code for compute capability {sm} ({source})",
            f"{row.reason} ({row.source})",
            "; or ".join(_left(target, None, sm, old=True)),
        )


def _too_old(target: Target, sm: str) -> schema.BuildConflict | None:
    for row in facts.rows(schema.BuildConflict):
        of_cards = row.subject == "compute-capability"
        if of_cards and within(target.version, row.versions) and within(sm, row.range):
            return row
    return None


def _left(target: Target, row: schema.CudaArch | None, sm: str, *, old: bool) -> Iterator[str]:
    """What can be done, the nearest first; nothing here is promised to work."""
    able = [p.cuda for p in pairs(target) if (r := gpu.arch(p.cuda)) and sm in r.sm]
    if able and row is not None:
        yield f"--cuda {able[0]}"
        return
    if old or row is None:
        if last := _nearest_release(target, sm, lambda found, own: found < own):
            yield f"take an older TensorFlow: {last} is the last whose CUDA compiles for that card"
        yield "take a newer card"
        return
    if kin := _same_major(row, sm):
        yield (
            f"--gpu {kin}: what is compiled for it runs on {sm} too, by the binary compatibility "
            "inside a major that NVIDIA documents"
        )
    if newer := _nearest_release(target, sm, lambda found, own: found > own):
        yield f"take a newer TensorFlow: {newer} is the first whose tested CUDA knows it"
    if ptx := _ptx(target, sm):
        yield (
            f"use the released wheel, whose {ptx} PTX the driver may compile at the first start "
            "(slow, and no source reports this release working so)"
        )
    elif not newer and (newest := _newest(target)) and (ptx := _ptx(newest, sm)):
        yield (
            f"use the released wheel of {newest.name}, whose {ptx} PTX the driver may compile at the "
            "first start (slow, and no source reports it working so)"
        )
    yield "use NVIDIA's own TensorFlow container for that card"


def _same_major(row: schema.CudaArch, sm: str) -> str:
    """The newest capability below, of the same major, that this CUDA compiles for."""
    major = sm.partition(".")[0]
    below = [c for c in row.sm if c.partition(".")[0] == major and version_key(c) < version_key(sm)]
    return max(below, key=version_key, default="")


def _ptx(target: Target, sm: str) -> str:
    """The PTX of the released wheel, if it is of an older capability than the card's."""
    info = lookup.build_info(target)
    found = [c for c in (info.capabilities if info else []) if c.startswith("compute_")]
    newest = found[-1] if found else ""
    return newest if newest and version_key(sm) > version_key(gpu.dotted(newest)) else ""


def _kin(target: Target) -> list[Target]:
    """The CUDA wheels of the same platform, oldest first."""
    return [
        other
        for other in catalogue().values()
        if (other.variant, other.platform, other.product) == ("cuda", target.platform, "wheel")
    ]


def _newest(target: Target) -> Target | None:
    return next(reversed(_kin(target)), None)


def _nearest_release(target: Target, sm: str, side: Callable[[Version, Version], bool]) -> str:
    """The nearest release on one side whose CUDA compiles for a capability."""
    own = version_key(target.version)
    found = [
        other
        for other in _kin(target)
        if side(version_key(other.version), own) and compiles_for(other, sm)
    ]
    if not found:
        return ""
    first, last = found[0], found[-1]
    return first.name if version_key(first.version) > own else last.name
