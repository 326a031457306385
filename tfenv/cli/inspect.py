"""`tfenv inspect`: what a wheel is and where it will and will not run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from tfenv.cli import _output

if TYPE_CHECKING:
    from tfenv.wheel.inspect import Inspection

_MIB = 1 << 20


@click.command("inspect")
@click.argument("wheel", type=click.Path(path_type=Path))
@click.option(
    "--prove-cpu",
    "model",
    default="",
    metavar="MODEL",
    help="Import it on an emulated processor: Nehalem (SSE4.2), SandyBridge (AVX), Haswell (AVX2).",
)
@click.option(
    "--python", type=click.Path(path_type=Path), help="For that: a Python that has WHEEL installed."
)
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def command(wheel: Path, model: str, python: Path | None, as_json: bool) -> None:
    """Say what WHEEL is (a file, or an environment's folder) and where it runs."""
    from tfenv.wheel.inspect import inspect

    if model and python is None:
        raise click.UsageError("--prove-cpu needs --python: a Python that has the wheel installed")
    result = inspect(wheel)
    if model and python is not None:
        from tfenv.wheel.cpu import prove

        result.cpu_proof = prove(python, model)
    if as_json:
        _output.json(result)
    else:
        click.echo(_text(result))
    if not result.ok:
        click.get_current_context().exit(1)


def _text(result: Inspection) -> str:
    """The result for a person. Everything printed came from the wheel: control characters go."""
    from tfenv.errors import one_line

    rows = [
        ("wheel", f"{result.name} {result.version} ({result.file})"),
        ("members", f"{result.members}, {sum(result.sizes.values()) // _MIB} MiB unpacked"),
        ("RECORD", "right" if result.record_ok else result.record_faults[0]),
        ("tags", _tags(result)),
        *_linux(result),
        ("compilers", ", ".join(result.compilers) or "unknown"),
        ("git version", result.git_version or "unknown"),
        ("CPU floor", f"{result.isa_floor}: {result.isa_evidence}"),
        *_proof(result),
        ("GPU code", _gpu(result)),
        ("to bring", _bring(result)),
        ("", result.runs_on.sentence),
    ]
    lines = [f"{name:>12}  {one_line(text)}" for name, text in rows]
    lines += [
        f"{f.severity:>12}  {one_line(f'{f.code}: {f.path}: {f.detail}')}" for f in result.findings
    ]
    return "\n".join(lines)


def _tags(result: Inspection) -> str:
    claimed = ", ".join(result.tags.claimed) or "none"
    if not result.tags.real:
        return claimed
    verdict = "kept" if result.tags.honoured else "NOT KEPT"
    return f"{claimed}: {verdict}, the libraries allow {result.tags.real}"


def _linux(result: Inspection) -> list[tuple[str, str]]:
    """What only ELF libraries can be asked."""
    if not any(item.format == "ELF" for item in result.libraries):
        return []
    abi = {True: "yes", False: "no", None: "unknown"}[result.cxx11_abi]
    return [("symbols", _symbols(result)), ("C++11 ABI", abi)]


def _symbols(result: Inspection) -> str:
    pairs = (("GLIBC", result.glibc), ("GLIBCXX", result.glibcxx), ("CXXABI", result.cxxabi))
    return ", ".join(f"{name}_{version}" for name, version in pairs if version) or "none"


def _proof(result: Inspection) -> list[tuple[str, str]]:
    proof = result.cpu_proof
    return [("CPU proof", f"{proof.model}: {proof.outcome}: {proof.detail}")] if proof else []


def _bring(result: Inspection) -> str:
    """What the system has to have beyond glibc's own libraries."""
    parts = list(result.bring)
    if result.cuda and result.cuda.containers:
        driver = result.runs_on.driver
        parts.append(f"an NVIDIA driver, {driver} or newer" if driver else "an NVIDIA driver")
        parts += [f"CUDA {result.cuda.version}"] if result.cuda.version else []
        parts += [f"cuDNN {result.cuda.cudnn}"] if result.cuda.cudnn else []
    return ", ".join(parts) or "nothing"


def _gpu(result: Inspection) -> str:
    cuda = result.cuda
    if cuda is None or not cuda.containers:
        return "none: this is a CPU build"
    sizes = (f"{arch} {size // _MIB} MiB" for arch, size in cuda.bytes.items())
    return f"CUDA {cuda.version or '?'}, cuDNN {cuda.cudnn or '?'}: {', '.join(sizes)}"
