"""What the compiler and the base system make of a wheel: its C++ ABI and its platform tag."""

from __future__ import annotations

from tfenv import facts
from tfenv.facts import schema
from tfenv.target import Target, version_key
from tfenv.toolchain import lookup
from tfenv.toolchain.base import os_row
from tfenv.toolchain.model import Chosen, Rejected


def abi(target: Target, base: str) -> dict[str, Chosen]:
    """The libstdc++ ABI of the released wheel, and the tag that a wheel built on `base` gets."""
    if not target.linux:
        return {}
    values = {"wheel-tag": _tag(target, base)}
    if (flag := _cxx11(target)) is not None:
        values["cxx11-abi"] = flag
    return values


def _cxx11(target: Target) -> Chosen | None:
    """_GLIBCXX_USE_CXX11_ABI of the release: what custom ops and C++ programs must repeat.

    It is the build's own choice, not the compiler's default, and never changed inside a minor.
    """
    minor = version_key(target.version).release[:2]
    known = [
        row
        for row in facts.rows(schema.BuildInfo)
        if row.cxx11_abi is not None
        and row.platform == target.platform
        and version_key(row.version).release[:2] == minor
    ]
    if not known:
        return None
    row = min(known, key=lambda r: (r.version != target.version, r.cuda_build != target.cuda))
    value, other = ("1", "0") if row.cxx11_abi else ("0", "1")
    reason = f"the wheel of {row.distribution} {row.version} was compiled with it; custom ops and "
    reason += "C++ programs compiled with the other value do not find its symbols"
    refused = Rejected(other, "undefined symbol with or without __cxx11 in its name", row.source)
    return Chosen(value, "as-released", reason, row.source, (refused,))


def _tag(target: Target, base: str) -> Chosen:
    """The strictest manylinux tag that a wheel built on the base system can claim.

    A binary may ask for symbols as new as the glibc that it was linked against, so the tag's glibc
    is the base system's: an older tag needs an older system (PEP 600).
    """
    system = os_row(base)
    machine = target.platform.removeprefix("linux-")
    rows = facts.grouped(schema.Manylinux, "machine")[(machine,)]
    fit = [r for r in rows if version_key(r.glibc) >= version_key(system.glibc)]
    row = min(fit, key=lambda r: version_key(r.glibc))
    value = f"manylinux_{row.glibc.replace('.', '_')}_{machine}"
    reason = f"{base} has glibc {system.glibc}: a wheel built there may need all of it"
    refused = tuple(
        Rejected(
            r.alias or f"manylinux_{r.glibc.replace('.', '_')}",
            f"promises glibc {r.glibc} at most, older than that of {base}",
            r.source,
        )
        for r in rows
        if version_key(r.glibc) < version_key(system.glibc)
    )
    released = lookup.wheel(target)
    if released is not None and released.tag:
        reason += f"; the released wheel claims {released.tag}"
    return Chosen(value, "glibc-of-the-base", reason, f"{system.source}; {row.source}", refused)
