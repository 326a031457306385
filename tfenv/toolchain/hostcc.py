"""Which host compilers a CUDA lets through: the check in its own `crt/host_config.h`."""

from __future__ import annotations

import re

from tfenv import facts
from tfenv.errors import ConflictError
from tfenv.facts import schema
from tfenv.target import Target, within
from tfenv.toolchain import gpu, lookup
from tfenv.toolchain.base import FAMILY, compiler_major
from tfenv.toolchain.model import Chosen, Rejected


def host_compiler(target: Target, cuda_version: str, compiler: str) -> Chosen:
    """The compiler that nvcc hands the host's part to, held against what that CUDA lets through.

    TensorFlow's own tested pair of compiler and CUDA is never refused, also where it lies outside:
    then the reason says so.

    Args:
        target: what is built.
        cuda_version: the chosen CUDA, 11.3.1.
        compiler: the chosen compiler, "GCC 7.5".

    Raises:
        ConflictError: CUDA refuses the compiler; on Linux without a fix, which `choose` finds.
    """
    row = gpu.arch(cuda_version)
    limit, accepted = _limit(row, compiler)
    source = row.source if row else "tfenv/facts/cuda-arch.toml"
    if row is None or not limit:
        reason = f"which {_family(compiler)} CUDA {cuda_version} lets through stands in no source "
        reason += "that the facts were read from: nothing is refused"
        return Chosen(compiler, "not-known", reason, source)
    refused = Rejected(f"other than {limit}", f"nvcc of CUDA {row.cuda} refuses it", row.source)
    if accepted:
        reason = f"CUDA {row.cuda} lets {limit} through"
        return Chosen(compiler, "host-config", reason, row.source, (refused,))
    if known := _tested(target, row, compiler):
        reason = f"nvcc of CUDA {row.cuda} names {limit}; TensorFlow tested it with "
        reason += f"{FAMILY[known.compiler]} {known.compiler_version}, outside of that, so "
        reason += f"{compiler} is taken: {_how(target)}"
        source = f"{known.source}; {row.source}"
        return Chosen(compiler, "tested", reason, source, (refused,))
    raise ConflictError(
        f"CUDA {row.cuda} refuses {compiler} as host compiler",
        f"it lets {limit} through ({row.source})",
        "" if target.linux else _other_cuda(target),
    )


def _family(compiler: str) -> str:
    return compiler.partition(" ")[0]


def _limit(row: schema.CudaArch | None, compiler: str) -> tuple[str, bool]:
    """What a CUDA lets through of a compiler's family, in words, and whether this one is.

    No words: not known.
    """
    family, _, version = compiler.partition(" ")
    if row is None or not version:
        return "", True
    if family == "GCC" and row.gcc_max:
        major = compiler_major("gcc", version).split(".")[0]
        return f"GCC up to {row.gcc_max}", int(major) <= int(row.gcc_max.split(".")[0])
    if family == "Clang" and row.clang:
        return f"Clang {row.clang}", within(compiler_major("clang", version), row.clang)
    if family == "MSVC" and row.msc_ver and (studio := _studio(version)):
        words = f"_MSC_VER {row.msc_ver} (Visual Studio {studio.name} has {_numbers(studio)})"
        return words, within(str(studio.oldest), row.msc_ver)
    return "", True


def _studio(version: str) -> schema.Msvc | None:
    """The row of a Visual Studio: "2015 update 3" is 2015."""
    year = re.match(r"\d{4}", version)
    return next((r for r in facts.rows(schema.Msvc) if year and r.name == year[0]), None)


def _numbers(studio: schema.Msvc) -> str:
    same = studio.oldest == studio.newest
    return str(studio.oldest) if same else f"{studio.oldest} to {studio.newest}"


def _tested(target: Target, row: schema.CudaArch, compiler: str) -> schema.Tested | None:
    """The tested configuration, if it is this CUDA with this compiler.

    A tested compiler that lies outside itself, and that no base system has, is stood for by a newer
    one of the family: Clang 18 for 17.
    """
    known = lookup.builder(target)
    if known is None or FAMILY[known.compiler] != _family(compiler):
        return None
    if lookup.tested(target) is not None and known.cuda != row.cuda:
        return None
    family = known.compiler
    tested = f"{FAMILY[family]} {known.compiler_version}"
    own, chosen = (compiler_major(family, c.partition(" ")[2]) for c in (tested, compiler))
    stands_for_it = not _limit(row, tested)[1] and float(chosen) > float(own)
    return known if own == chosen or stands_for_it else None


def _how(target: Target) -> str:
    """How a build gets past nvcc's check; the default was read at 2.19-dev and 2.21.0."""
    if within(target.version, ">=2.18"):
        return "configure takes TF_CUDA_CLANG=1 by default, Clang compiles the device code itself"
    return "nvcc's flag -allow-unsupported-compiler lets it through"


def _other_cuda(target: Target) -> str:
    """Elsewhere the compiler is the system's, so CUDA has to give way."""
    known = lookup.builder(target)
    return f"--cuda {known.cuda}" if known and known.cuda else "choose another --cuda"
