"""What a log says about GPUs, taken together: which libraries lacked, was a GPU wanted at all.

A GPU-capable build prints remarks about missing CUDA libraries on every machine without a GPU.
They are a failure only where a GPU is there, or was asked for.
"""

from __future__ import annotations

import re

from tfenv.diagnose import devices, versions
from tfenv.diagnose.scan import Scan

_TOOLKIT = {"cudart", "cublas", "cublasLt", "cufft", "curand", "cusolver", "cusparse"}


def library(soname: str) -> tuple[str, str]:
    """`libcudart.so.11.0` and `cudart64_110.dll` to (`cudart`, `11.0`)."""
    if soname.endswith(".dll"):
        name, _, number = soname[:-4].partition("64_")
        if number in {"10", "11", "12", "13"}:
            return name, number  # cublas64_11.dll: of CUDA 11, as is cudart64_110.dll
        return name, f"{number[:-1]}.{number[-1]}" if len(number) > 1 else number
    name, _, version = soname.partition(".so")
    return name.removeprefix("lib"), version.lstrip(".")


def state(scan: Scan) -> dict[str, str]:
    """The names that follow from the GPU clues of a log; the value is empty where not so."""

    def values(name: str) -> list[str]:
        return [value for _, value in scan.clues.get(name, ())]

    missing = {library(soname) for soname in values("missing_lib")}
    opened = {library(soname) for soname in values("opened_lib")}
    lacks = {name for name, _ in missing}
    seen = [v for v in values("cuda_seen") if "." in v or versions.key(v) >= (9,)]
    toolkit = bool(lacks & _TOOLKIT)
    present = bool(values("gpu_present"))
    wanted = present or any(
        values(n) for n in ("gpu_empty", "gpu_asked", "cvd_hidden", "smi_missing")
    )
    libcuda = bool(lacks & {"cuda", "nvcuda"}) or bool(values("no_kernel_driver"))
    quiet = bool(values("dlopen_failed")) and not lacks & (_TOOLKIT | {"cudnn"})
    flags = {
        "cuda_mixed": len(_majors(missing | opened)) > 1
        or bool(toolkit and values("pip_cu11") and values("pip_cu12")),
        "cuda_missing": toolkit,
        "cudnn_only": "cudnn" in lacks and not toolkit,
        "cuda_other": toolkit and _other_version(missing, seen),
        "libcuda_missing": libcuda,
        "cuda_quiet_or_pip": quiet
        or (bool(values("pip_nvidia")) and (toolkit or "cudnn" in lacks)),
        "gpu_wanted": wanted,
        "gpu_wanted_device": present or bool(values("smi_gpu")) or bool(values("drivers_match")),
        "container_no_driver": bool(values("container")) and libcuda,
        "gpu_asked_or_empty": bool(values("gpu_asked")) or bool(values("gpu_empty")),
        "scheduler_device": bool(values("scheduler")) and not values("cvd_hidden"),
        "gpu_newer_than_cuda": _newer_than_cuda(scan, opened, seen),
    }
    return {name: "yes" if flag else "" for name, flag in flags.items()}


def _other_version(missing: set[tuple[str, str]], seen: list[str]) -> bool:
    """Whether CUDA is there, but in another version than the missing libraries belong to."""
    wanted = {version for name, version in missing if name == "cudart"}
    if not wanted or not seen:
        return False
    return not any(same_cuda(want, have) for want in wanted for have in seen)


def _majors(libraries: set[tuple[str, str]]) -> set[str]:
    """The CUDA majors of libraries whose soname names it; cuFFT, cuRAND and cuSOLVER do not."""
    return {
        version.split(".")[0]
        for name, version in libraries
        if name in {"cudart", "cublas", "cublasLt", "cusparse"} and version
    }


def same_cuda(wanted: str, have: str) -> bool:
    """CUDA 11's and later runtimes keep one soname per major version, earlier ones per minor."""
    major = versions.key(wanted)[:1]
    if major >= (11,):
        return versions.key(have)[:1] == major
    return versions.minor(have) == versions.minor(wanted) or versions.key(have) == versions.key(
        wanted
    )


def _newer_than_cuda(scan: Scan, opened: set[tuple[str, str]], seen: list[str]) -> bool:
    """Whether the GPU's compute capability is above what the loaded CUDA generates code for."""
    loaded = [version for name, version in opened if name == "cudart" and version] or seen
    capabilities = [value for _, value in scan.clues.get("gpu_cc", ())]
    for _, text in scan.clues.get("gpu_major_minor", ()):
        numbers = re.findall(r"\d+", text)
        capabilities += [".".join(numbers[:2])] if len(numbers) >= 2 else []
    for _, name in scan.clues.get("gpu_name", ()):
        capabilities += [c for c in [devices.capability(name)] if c]
    limits = [
        limit for version in loaded for limit in [devices.newest_capability(version)] if limit
    ]
    if not limits or not capabilities:
        return False
    return max(map(versions.key, capabilities)) > max(map(versions.key, limits))
