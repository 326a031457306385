"""Platform tags: what a wheel claims, and what its libraries would really allow (PEP 425, 600)."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable

from tfenv import facts
from tfenv.facts import schema

_VERSIONED = re.compile(r"(GLIBC|GLIBCXX|CXXABI)_(\d+(?:\.\d+)*)")
_PEP600 = re.compile(r"manylinux_(\d+)_(\d+)_(\w+)")

# What PEP 600 tags let a wheel expect from the system, beyond glibc's own libraries.
SYSTEM_LIBRARIES = frozenset({
    "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1", "libanl.so.1", "libatomic.so.1", "libc.so.6",
    "libdl.so.2", "libexpat.so.1", "libgcc_s.so.1", "libm.so.6", "libmvec.so.1", "libnsl.so.1",
    "libpthread.so.0", "libresolv.so.2", "librt.so.1", "libstdc++.so.6", "libutil.so.1",
    "libz.so.1",
})  # fmt: skip


def number(version: str) -> tuple[int, ...]:
    """A dotted version as numbers, to compare by: 3.4.19 is newer than 3.4.9."""
    return tuple(int(part) for part in version.split("."))


def highest(names: Iterable[str]) -> dict[str, str]:
    """The newest version per family among symbol version names: {"GLIBC": "2.17", ...}."""
    found: dict[str, str] = {}
    for name in names:
        match = _VERSIONED.fullmatch(name)
        if match and number(match[2]) > number(found.get(match[1], "0")):
            found[match[1]] = match[2]
    return found


@functools.cache
def _policies(machine: str) -> tuple[schema.Manylinux, ...]:
    chosen = (row for row in facts.rows(schema.Manylinux) if row.machine == machine)
    return tuple(sorted(chosen, key=lambda row: number(row.glibc)))


def real_tag(versions: Iterable[str], machine: str) -> str:
    """The oldest manylinux tag whose symbol versions suffice; `linux_<machine>` where none does."""
    need = highest(versions)
    for row in _policies(machine):
        ceiling = {"GLIBC": row.glibc, "GLIBCXX": row.glibcxx, "CXXABI": row.cxxabi}
        if all(number(need.get(family, "0")) <= number(top) for family, top in ceiling.items()):
            return f"manylinux_{row.glibc.replace('.', '_')}_{machine}"
    return f"linux_{machine}"


def pep600(tag: str) -> str:
    """The PEP 600 name of a platform tag: manylinux2014_x86_64 is manylinux_2_17_x86_64."""
    for row in facts.rows(schema.Manylinux):
        if row.alias and tag == f"{row.alias}_{row.machine}":
            return f"manylinux_{row.glibc.replace('.', '_')}_{row.machine}"
    return tag


def spellings(tag: str) -> list[str]:
    """A PEP 600 platform tag and its older name, which older pips know it by, sorted as PEP 425
    has a wheel's name: manylinux2014_x86_64, manylinux_2_17_x86_64."""
    older = [
        f"{row.alias}_{row.machine}"
        for row in facts.rows(schema.Manylinux)
        if row.alias and tag == pep600(f"{row.alias}_{row.machine}")
    ]
    return sorted({tag, *older})


def promised_glibc(tag: str) -> str:
    """The oldest glibc that a platform tag promises to run on; empty for other tags."""
    match = _PEP600.fullmatch(pep600(tag))
    return f"{match[1]}.{match[2]}" if match else ""


def honoured(claimed: str, real: str) -> bool:
    """Whether a claimed platform tag promises no more than the libraries keep."""
    claim, proof = _PEP600.fullmatch(pep600(claimed)), _PEP600.fullmatch(real)
    if claim is None:  # linux_x86_64 promises nothing; other systems are not judged here
        return True
    if proof is None or claim[3] != proof[3]:
        return False
    return (int(claim[1]), int(claim[2])) >= (int(proof[1]), int(proof[2]))
