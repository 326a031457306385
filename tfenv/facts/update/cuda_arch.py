"""`cuda-arch.toml`: the host compilers of a new CUDA minor, from NVIDIA's own compiler packages.

Their `crt/host_config.h` refuses what is too new. The compute capabilities are printed by
`ptxas --help` alone; nothing that was downloaded is run here, so they stay unknown.
"""

from __future__ import annotations

import re

from packaging.version import Version

from tfenv.facts import schema
from tfenv.facts.update import listing
from tfenv.facts.update.index import Index
from tfenv.facts.update.model import UNKNOWN, Change, Outcome, Tables, rows

# From 13.0 on the header lies in a package of its own.
PACKAGES = ("nvidia-cuda-nvcc-cu12", "nvidia-cuda-crt")
_MEMBER = r"nvidia/[a-z0-9_]+/include/crt/host_config\.h"
_GCC = re.compile(r"^#if __GNUC__ > (\d+)\s*$", re.MULTILINE)
_CLANG = re.compile(r"clang version must be less than (\d+) and greater than ([\d.]+\d)")
_MSVC = re.compile(r"^#if _MSC_VER < (\d+) \|\| _MSC_VER >= (\d+)\s*$", re.MULTILINE)


def update(tables: Tables, index: Index) -> Outcome:
    """Rows of the CUDA minors that the index has a compiler of and the table has not."""
    old = rows(tables, schema.CudaArch)
    known = {row.cuda for row in old}
    newest: dict[str, tuple[Version, str, listing.File]] = {}
    for package in PACKAGES:
        for file in index.files(package):
            name = listing.wheel_name(file)
            if name is None or not listing.final(name.version) or name.version.major < 12:
                continue
            minor = f"{name.version.major}.{name.version.minor}"
            fits = "linux" in name.platform and name.platform.endswith("x86_64")
            if fits and minor not in known:
                entry = (name.version, package, file)
                newest[minor] = max(newest.get(minor, entry), entry, key=lambda e: e[0])
    new = [_row(minor, index, *newest[minor]) for minor in sorted(newest, key=Version)]
    table = sorted((*old, *new), key=lambda row: Version(row.cuda))
    return Outcome(tuple(table), tuple(Change("new", row.cuda) for row in new))


def _row(
    minor: str, index: Index, version: Version, package: str, file: listing.File
) -> schema.CudaArch:
    text = index.member(package, file, _MEMBER) or ""
    gcc, clang, msvc = read(text)
    unread = [n for n, v in (("GCC", gcc), ("Clang", clang), ("_MSC_VER", msvc)) if not v]
    missing = ", ".join(["compute capabilities (ptxas --help)", "drivers", *unread])
    return schema.CudaArch(
        cuda=minor,
        sm=[],
        gcc_max=gcc,
        clang=clang,
        msc_ver=msvc,
        source=f"crt/host_config.h of PyPI {package}=={version}",
        note=f"{UNKNOWN}{missing}",
    )


def read(text: str) -> tuple[str, str, str]:
    """The newest GCC, the range of Clang and that of _MSC_VER which the header lets through."""
    gcc, clang, msvc = _GCC.findall(text), _CLANG.findall(text), _MSVC.findall(text)
    return (
        gcc[-1] if gcc else "",
        f">{clang[-1][1]},<{clang[-1][0]}" if clang else "",
        f">={msvc[-1][0]},<{msvc[-1][1]}" if msvc else "",
    )
