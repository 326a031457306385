"""Before a build: what is missing on this machine, and what would happen otherwise."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from importlib import resources
from typing import Literal

import msgspec
import tomli

from tfenv import facts
from tfenv.build.probe import Probe
from tfenv.errors import BuildError
from tfenv.facts import schema
from tfenv.lock.model import Lock
from tfenv.target import Target, version_key, within
from tfenv.toolchain import buildtool

_LEAST_OPEN_FILES = 1024
_LONGEST_WINDOWS_PATH = 40
_REMOTE_JOBS = 50


class Finding(msgspec.Struct, frozen=True):
    """Something that stands between the machine and a build."""

    code: str
    severity: Literal["error", "warning"]
    detail: str
    otherwise: str  # what will happen
    fix: str


class Need(msgspec.Struct, frozen=True):
    """What one release takes. In MB (10^6 bytes)."""

    versions: str
    variant: str
    job_mb: int
    least_mb: int
    memory_source: str  # or "an estimate", as of the disk
    disk_mb: int
    least_disk_mb: int
    disk_source: str


class _Table(msgspec.Struct, frozen=True):
    rows: list[Need]
    march: dict[str, list[str]]


@functools.cache
def _table() -> _Table:
    text = resources.files("tfenv.build").joinpath("needs.toml").read_text("utf-8")
    return msgspec.convert(tomli.loads(text), _Table)


def need(target: Target) -> Need:
    """The figures of a release."""
    return next(
        row
        for row in _table().rows
        if row.variant == target.variant and within(target.version, row.versions)
    )


def jobs(target: Target, memory_mb: int, cores: int, *, remote: bool = False) -> int:
    """How many compilers fit into the memory, at most one per core and at least one; as many as
    Bazel's manual advises where they run on other machines."""
    if remote:
        return _REMOTE_JOBS
    return max(1, min(cores or 1, memory_mb // need(target).job_mb if memory_mb else 1))


def check(
    target: Target,
    lock: Lock,
    probe: Probe,
    *,
    host: bool = True,
    own_cuda: bool = True,
    remote: bool = False,
) -> list[Finding]:
    """All findings, errors first.

    Args:
        target: what is to be built.
        lock: its toolchain and downloads.
        probe: the machine.
        host: the machine's own compiler and Bazel will be used (not a container's).
        own_cuda: so will its CUDA (conda-forge's cudatoolkit has libraries and no compiler).
        remote: the compilers will run on other machines.
    """
    found = [
        *(() if remote else _memory(target, probe)),
        *_disk(target, probe),
        *_limits(probe),
        *_network(probe),
    ]
    found += _march(lock, probe)
    if host:
        found += [*_compiler(target, probe), *_bazel(target, probe), *_glibc(target, probe)]
    if own_cuda:
        found += _cuda(target, lock, probe)
    return sorted(found, key=lambda finding: finding.severity)


def require(findings: list[Finding]) -> None:
    """Stop where an error was found.

    Raises:
        BuildError: the first error; all are named.
    """
    errors = [finding for finding in findings if finding.severity == "error"]
    if errors:
        first = errors[0]
        codes = ", ".join(finding.code for finding in errors)
        raise BuildError(
            f"this machine cannot build it ({codes}): {first.detail}", first.otherwise, first.fix
        )


def _memory(target: Target, probe: Probe) -> Iterator[Finding]:
    wants = need(target)
    if not probe.memory_mb:
        return
    if probe.memory_mb < wants.least_mb:
        yield Finding(
            "memory",
            "error",
            f"{probe.memory_mb / 1000:.1f} GB of memory, at least {wants.least_mb / 1000:.0f} "
            f"are needed ({wants.memory_source})",
            "the kernel ends a compiler or Bazel in the middle (exit 137, 'Killed')",
            "build on a larger machine, add swap, or use --remote-executor",
        )
    elif probe.cores * wants.job_mb > probe.memory_mb:
        fits = jobs(target, probe.memory_mb, probe.cores)
        yield Finding(
            "jobs",
            "warning",
            f"{probe.cores} cores and {probe.memory_mb / 1000:.1f} GB: {fits} jobs fit, at "
            f"{wants.job_mb / 1000:.1f} GB each ({wants.memory_source})",
            "with one job per core the kernel ends compilers in the middle",
            f"nothing: {fits} jobs are used; --jobs chooses otherwise",
        )


def _disk(target: Target, probe: Probe) -> Iterator[Finding]:
    wants = need(target)
    if probe.disk_mb < wants.disk_mb:
        hopeless = probe.disk_mb < wants.least_disk_mb
        yield Finding(
            "disk",
            "error" if hopeless else "warning",
            f"{probe.disk_mb / 1000:.1f} GB free, about {wants.disk_mb / 1000:.0f} are used by a "
            f"full build ({wants.disk_source})",
            "the build ends with 'No space left on device', often hours in",
            "free space, or work on another disk (the folder .tfenv is where tfenv is started)",
        )


def _compiler(target: Target, probe: Probe) -> Iterator[Finding]:
    if not probe.compiler:
        yield Finding(
            "compiler",
            "error",
            "no C++ compiler was found",
            "Bazel ends with 'Auto-Configuration Error: Cannot find gcc or CC'",
            "install g++ or clang, or set CC and CXX; --engine docker brings its own",
        )
        return
    family, _, version = probe.compiler.partition(" ")
    for row in facts.rows(schema.BuildConflict):
        if (
            row.subject == family.lower()
            and within(target.version, row.versions)
            and within(version, row.range)
        ):
            yield Finding(
                "compiler",
                "error",
                f"{probe.compiler} does not build TensorFlow {target.version}: {row.reason} "
                f"({row.source})",
                "the compilation fails, possibly after a long time",
                "set CC and CXX to another compiler, or use --engine docker",
            )


def _bazel(target: Target, probe: Probe) -> Iterator[Finding]:
    limit = buildtool.bound(target)
    if probe.bazel is None or limit is None:
        return
    low, high = limit.min or limit.file, limit.max or limit.file
    if not probe.bazel[:1].isdigit():
        yield Finding(
            "bazel-version",
            "warning",
            f"this Bazel says '{probe.bazel}' instead of a version (built from source)",
            "configure.py accepts it unseen; if it is not a "
            f"{low}, the build may fail in its rules",
            "nothing, or give a release binary of Bazel",
        )
        return
    version = version_key(probe.bazel)
    if (low and version < version_key(low)) or (high and version > version_key(high)):
        yield Finding(
            "bazel",
            "error",
            f"Bazel {probe.bazel} is outside {low} to {high} ({limit.kind}; {limit.source})",
            "configure.py refuses it, or the build fails in its rules",
            f"let tfenv fetch Bazel {limit.file or low}, or use --engine docker",
        )


def _cuda(target: Target, lock: Lock, probe: Probe) -> Iterator[Finding]:
    # From 2.18 on Bazel fetches CUDA itself.
    if target.cuda and within(target.version, "<2.18") and not probe.nvcc:
        yield Finding(
            "cuda",
            "error",
            "no CUDA toolkit was found: no nvcc below CUDA_TOOLKIT_PATH or /usr/local/cuda, or on "
            "PATH",
            "configure ends with 'Could not find any cuda.h'",
            f"install CUDA {lock.toolchain['cuda'].value} with cuDNN and set CUDA_TOOLKIT_PATH, or "
            "use --engine docker, which brings them",
        )


def _glibc(target: Target, probe: Probe) -> Iterator[Finding]:
    if target.linux and probe.system == "linux" and probe.glibc:
        yield Finding(
            "glibc",
            "warning",
            f"this machine has glibc {probe.glibc}",
            f"the product runs on systems with glibc {probe.glibc} or newer only",
            "--engine docker builds on the release's own base system",
        )


def _march(lock: Lock, probe: Probe) -> Iterator[Finding]:
    value = lock.toolchain.get("march")
    if value is None or not probe.cpu_flags:
        return
    if value.value == "native":
        if "avx" not in probe.cpu_flags:
            yield Finding(
                "march-avx",
                "warning",
                "--march native on a processor without AVX",
                "the product has no AVX code: released wheels have, and compute several times as "
                "fast on other machines",
                "name the processor that it is for, e.g. --march haswell",
            )
        return
    missing = [f for f in _table().march.get(value.value, []) if f not in probe.cpu_flags]
    if missing:
        yield Finding(
            "march",
            "error",
            f"--march {value.value} needs {', '.join(missing)}, which this processor lacks",
            "the build runs programs that it has just compiled: they end with 'Illegal "
            "instruction'",
            "build on a newer processor, or choose an older --march",
        )


def _limits(probe: Probe) -> Iterator[Finding]:
    if 0 < probe.open_files < _LEAST_OPEN_FILES:
        yield Finding(
            "open-files",
            "warning",
            f"a process may open {probe.open_files} files",
            "Bazel or the linker ends with 'Too many open files'",
            f"ulimit -n {_LEAST_OPEN_FILES}",
        )
    if probe.system == "windows" and len(probe.work_path) > _LONGEST_WINDOWS_PATH:
        yield Finding(
            "path-length",
            "error",
            f"the work folder's path has {len(probe.work_path)} characters",
            "files below it pass the 260 characters that Windows tools accept",
            "work in a short folder, e.g. C:\\tf",
        )
    if " " in probe.work_path:
        yield Finding(
            "path-space",
            "error",
            f"the work folder's path holds a space: {probe.work_path}",
            "TensorFlow's genrules do not quote paths and fail",
            "work in a folder without a space in its path",
        )


def _network(probe: Probe) -> Iterator[Finding]:
    if not probe.ca_exists:
        yield Finding(
            "ca-file",
            "error",
            f"SSL_CERT_FILE names {probe.ca_file}, which is not a file",
            "every https download fails with a certificate error",
            "correct or unset SSL_CERT_FILE",
        )
    if probe.proxy and not probe.proxy.startswith(("http://", "https://")):
        yield Finding(
            "proxy",
            "warning",
            f"HTTPS_PROXY is {probe.proxy!r}, without http://",
            "Bazel does not understand it and downloads directly",
            f"export HTTPS_PROXY=http://{probe.proxy}",
        )
