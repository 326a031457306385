"""One native library of a wheel, whatever its system: what it needs, exports and contains."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from tfenv.wheel import elf, fatbin, portable
from tfenv.wheel.blob import Blob

# Eigen compiles the name of the instruction set that it was built for into whoever asks for it,
# and TensorFlow asks (Eigen/src/Core/util/Memory.h and Macros.h, SimdInstructionSetsInUse).
# The AVX text is also what AVX2 and FMA builds carry.
_SIMD = (
    (b"AVX512, FMA, AVX2, AVX, SSE, SSE2", "AVX512F"),
    (b"AVX SSE, SSE2, SSE3, SSSE3, SSE4.1, SSE4.2", "AVX"),
    (b"SSE, SSE2, SSE3, SSSE3, SSE4.1, SSE4.2", "SSE4.2"),
    (b"SSE, SSE2, SSE3, SSSE3, SSE4.1", "SSE4.1"),
    (b"SSE, SSE2, SSE3, SSSE3", "SSSE3"),
    (b"SSE, SSE2, SSE3", "SSE3"),
    (b"SSE, SSE2", "SSE2"),
    (b"\0ARM NEON\0", "NEON"),
)
_SIMD_RANK = ("", *(level for _, level in reversed(_SIMD)))
_SIMD_NEEDLES = (b"SSE, SSE2", b"\0ARM NEON\0")
# Some releases hold the text of a Python bytes object: b'v1.13.2-0-g04256c89d8'.
_GIT = re.compile(
    rb"(?:\0|b')(v\d{1,3}\.\d{1,3}\.\d{1,3}[-.\w]{0,20}-\d{1,5}-g[0-9a-f]{7,40})['\0]"
)
_CONSTANTS = (".rodata", ".rdata", "__cstring", "__const")
_WINDOW = 4 << 20
_OVERLAP = 128
_MAX_STRINGS = 256 << 20


class Library(msgspec.Struct, kw_only=True):
    """What one library says of itself.

    Attributes:
        versions: newest symbol version needed, by family (GLIBC, GLIBCXX, CXXABI).
        tag_versions: every symbol version needed.
        cxx11_abi: whether TensorFlow's C++ names use std::__cxx11; None where nothing tells.
        simd: the instruction set that Eigen was compiled for; empty where it does not say.
        isa_needed: x86-64 level that the file demands of the loader.
        sass, ptx: bytes of GPU code by architecture number.
    """

    path: str
    format: str
    machine: str
    size: int
    needed: list[str]
    rpath: list[str] = []
    soname: str = ""
    versions: dict[str, str] = {}
    tag_versions: list[str] = []
    build_id: str = ""
    compilers: list[str] = []
    cxx11_abi: bool | None = None
    simd: str = ""
    isa_needed: str = ""
    git_version: str = ""
    minimum_os: str = ""
    executable_stack: bool = False
    writable_code: bool = False
    containers: int = 0
    sass: dict[str, int] = {}
    ptx: dict[str, int] = {}


def format_of(head: bytes) -> str:
    """ELF, PE, Mach-O or nothing, by a file's first bytes."""
    if head.startswith(elf.MAGIC):
        return "ELF"
    if head.startswith(b"MZ"):
        return "PE"
    if head[:4] in (b"\xcf\xfa\xed\xfe", b"\xce\xfa\xed\xfe"):
        return "Mach-O"
    # 0xCAFEBABE also begins Java classes, whose next number (a version) is above 40.
    if head[:4] in (b"\xca\xfe\xba\xbe", b"\xca\xfe\xba\xbf") and head[4:8] < b"\0\0\0\x10":
        return "Mach-O"
    return ""


def read(path: str, blob: Blob) -> list[Library]:
    """Read a library: one result, or one per architecture of a Mach-O file.

    Raises:
        ValueError: the file is damaged.
    """
    kind = format_of(blob.near(0, 16))
    if kind == "ELF":
        return [_elf(path, blob)]
    return [_portable(path, blob, part) for part in portable.parse(kind, blob)]


def _elf(path: str, blob: Blob) -> Library:
    from tfenv.wheel import tags

    parsed = elf.parse(blob)
    names = [name for group in parsed.versions.values() for name in group]
    places = [(s.name, s.offset, s.size) for s in parsed.sections if s.kind != elf.SHT_NOBITS]
    gpu = gpu_code(blob, places)
    simd, git = _strings(blob, places)
    return Library(
        path=path,
        format="ELF",
        machine=parsed.machine,
        size=blob.size,
        needed=list(parsed.needed),
        rpath=list(parsed.rpath),
        soname=parsed.soname,
        versions=tags.highest(names),
        tag_versions=sorted(set(names)),
        build_id=parsed.build_id,
        compilers=list(parsed.comments),
        cxx11_abi=_cxx11(blob, parsed),
        simd=simd,
        isa_needed=parsed.isa_needed,
        git_version=git,
        executable_stack=parsed.executable_stack,
        writable_code=parsed.writable_code,
        containers=gpu.containers,
        sass={f"sm_{arch}": size for arch, size in sorted(gpu.sass.items())},
        ptx={f"compute_{arch}": size for arch, size in sorted(gpu.ptx.items())},
    )


def _portable(path: str, blob: Blob, part: portable.Portable) -> Library:
    gpu = gpu_code(blob, part.sections)
    simd, git = _strings(blob, part.sections)
    return Library(
        path=path,
        format=part.format,
        machine=part.machine,
        size=blob.size,
        needed=list(part.needed),
        rpath=list(part.rpath),
        compilers=[f"linker {part.linker}"] if part.linker else [],
        minimum_os=part.minimum_os,
        simd=simd,
        git_version=git,
        containers=gpu.containers,
        sass={f"sm_{arch}": size for arch, size in sorted(gpu.sass.items())},
        ptx={f"compute_{arch}": size for arch, size in sorted(gpu.ptx.items())},
    )


_Places = Sequence[tuple[str, int, int] | portable.Place]


def gpu_code(blob: Blob, places: _Places) -> fatbin.GpuCode:
    """The GPU code in the sections that are named for it.

    Raises:
        ValueError: there are more parts than any real library has.
    """
    found = fatbin.GpuCode()
    for name, offset, size, *_ in places:
        if name in fatbin.SECTIONS:
            found.add(fatbin.scan(blob, offset, size))
    return found


def _strings(blob: Blob, places: _Places) -> tuple[str, str]:
    """Eigen's instruction set and TensorFlow's git version, from the constants."""
    simd = git = ""
    for name, offset, size, *_ in places:
        if name not in _CONSTANTS:
            continue
        end = min(offset + size, blob.size)
        for at in range(offset, end, _WINDOW):
            window = blob.near(at, min(_WINDOW + _OVERLAP, end - at))
            simd = max(simd, _simd(window), key=_SIMD_RANK.index)  # a part may be built for less
            if not git and (match := _GIT.search(window)):
                git = match[1].decode("ascii")
    return simd, git


def _simd(window: bytes) -> str:
    if not any(needle in window for needle in _SIMD_NEEDLES):
        return ""
    return next((level for text, level in _SIMD if text in window), "")


def _cxx11(blob: Blob, parsed: elf.Elf) -> bool | None:
    """Whether a name of TensorFlow's carries std::__cxx11 (libstdc++'s dual ABI)."""
    table = parsed.section(".dynstr")
    if table is None or table.kind == elf.SHT_NOBITS:
        return None
    ours = False
    end = min(table.offset + table.size, blob.size, table.offset + _MAX_STRINGS)
    for at in range(table.offset, end, _WINDOW):
        window = blob.near(at, min(_WINDOW + 4096, end - at))
        ours = ours or b"10tensorflow" in window
        where = window.find(b"__cxx11")
        while where >= 0:
            start = window.rfind(b"\0", 0, where) + 1
            stop = window.find(b"\0", where)
            if b"10tensorflow" in window[start : stop if stop >= 0 else len(window)]:
                return True
            where = window.find(b"__cxx11", max(stop, where + 7))
    return False if ours else None
