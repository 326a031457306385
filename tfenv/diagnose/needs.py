"""What TensorFlow needs of a machine: from the target, the installed build, or the facts."""

from __future__ import annotations

import re

import msgspec

from tfenv import facts
from tfenv.diagnose import devices, versions
from tfenv.diagnose.machine import Probe
from tfenv.facts.schema import BuildInfo, Platform, Tested, Wheel

# CUDA libraries that TensorFlow opens at start, by CUDA's major version: name -> soname.
# From the sonames in NVIDIA's redistributable packages.
_SONAMES = {
    "10.0": {"cudart": "10.0", "cublas": "10.0", "cufft": "10.0", "cusolver": "10.0", "cusparse": "10.0"},
    "10.1": {"cudart": "10.1", "cublas": "10", "cufft": "10", "cusolver": "10", "cusparse": "10"},
    "11": {"cudart": "11.0", "cublas": "11", "cufft": "10", "cusolver": "11", "cusparse": "11"},
    "12": {"cudart": "12", "cublas": "12", "cufft": "11", "cusolver": "11", "cusparse": "12"},
    "13": {"cudart": "13", "cublas": "13", "cufft": "12", "cusolver": "12", "cusparse": "12"},
}  # fmt: skip


class Needs(msgspec.Struct, frozen=True, kw_only=True):
    """What is needed; an empty value means that nothing is known or needed."""

    version: str = ""
    wants_cuda: bool = False
    cuda: str = ""
    cudnn: str = ""
    capabilities: list[str] = []
    pythons: list[str] = []
    glibc: str = ""
    libraries: dict[str, str] = {}  # cudart -> libcudart.so.12
    said_by: str = ""  # target, installed, wanted


def of(probe: Probe, target_version: str = "", *, target_cuda: bool | None = None) -> Needs:
    """The needs of a target, else of the TensorFlow that the probe names."""
    tf = probe.tensorflow
    installed = (tf.version if tf else None) or ""
    version = target_version or installed or (tf.wanted if tf and tf.wanted else "") or ""
    if not version:
        return Needs()
    same = bool(installed) and not (target_version and target_version != installed)
    said_by = "target" if target_version else "installed" if installed else "wanted"
    platform = platform_of(probe)
    known = _build_info(version, platform, cuda=target_cuda is not False)
    cuda_build = tf.is_cuda_build if tf and same and tf.is_cuda_build is not None else None
    wants = target_cuda if target_cuda is not None else cuda_build
    if wants is None:
        wants = bool(tf and tf.build_cuda) or bool(known and known.cuda_build)
    stated_cuda = (tf.build_cuda or "") if tf and (same or not installed) else ""
    stated_cudnn = (tf.build_cudnn or "") if tf and (same or not installed) else ""
    stated_caps = (tf.build_compute_capabilities or []) if tf and same else []
    cuda = stated_cuda or (known.cuda if known else "")
    return Needs(
        version=version,
        wants_cuda=bool(wants),
        cuda=cuda if wants else "",
        cudnn=_cudnn(version, stated_cudnn or (known.cudnn if known else "")) if wants else "",
        capabilities=(stated_caps or (known.capabilities if known else [])) if wants else [],
        pythons=_pythons(version, platform),
        glibc=_glibc(version, platform),
        libraries=sonames(cuda) if wants and platform.startswith("linux") else {},
        said_by=said_by,
    )


def platform_of(probe: Probe) -> Platform:
    """The platform of wheels for this machine's Python."""
    machine = ((probe.python.machine if probe.python else None) or probe.os.machine or "").lower()
    arm = machine in {"arm64", "aarch64"}
    if probe.os.system == "Windows":
        return "windows-x86_64"
    if probe.os.system == "Darwin":
        return "macos-arm64" if arm else "macos-x86_64"
    return "linux-aarch64" if arm else "linux-x86_64"


def sonames(cuda: str) -> dict[str, str]:
    """The libraries that a build for this CUDA opens, by name."""
    minor, major = versions.minor(cuda), versions.minor(cuda).split(".")[0]
    row = _SONAMES.get(minor) or _SONAMES.get(major) or {}
    if not row and versions.key(minor) < (10, 1) and minor:
        row = dict.fromkeys(_SONAMES["10.0"], minor)
    if minor == "10.2":
        row = {**_SONAMES["10.1"], "cudart": "10.2"}
    if minor == "11.0":
        row = {**_SONAMES["11"], "cusolver": "10"}
    return {name: f"lib{name}.so.{number}" for name, number in row.items()}


def _build_info(version: str, platform: str, *, cuda: bool) -> BuildInfo | None:
    rows = [r for r in facts.rows(BuildInfo) if r.version == version and r.platform == platform]
    return next((r for r in rows if r.cuda_build == cuda), rows[0] if rows else None)


def _cudnn(version: str, stated: str) -> str:
    """The build's cuDNN; where it names only the major version, the tested minor of the release."""
    if "." in stated:
        return stated
    minor = versions.minor(version)
    for row in facts.rows(Tested):
        fits = versions.minor(row.version) == minor and row.variant == "cuda"
        if fits and row.cudnn and versions.key(row.cudnn)[:1] == versions.key(stated)[:1]:
            return row.cudnn
    return stated


def _wheels(version: str, platform: str) -> list[Wheel]:
    return [
        r
        for r in facts.rows(Wheel)
        if r.version == version and r.platform == platform and not r.stub
    ]


def _pythons(version: str, platform: str) -> list[str]:
    return sorted({p for row in _wheels(version, platform) for p in row.pythons}, key=versions.key)


_TAGS = {"manylinux1": "2.5", "manylinux2010": "2.12", "manylinux2014": "2.17"}


def _glibc(version: str, platform: str) -> str:
    """The oldest glibc that the wheel's platform tag allows (PEP 600)."""
    found = []
    for row in _wheels(version, platform):
        match = re.search(r"manylinux_(\d+)_(\d+)", row.tag)
        found += [f"{match.group(1)}.{match.group(2)}"] if match else []
        found += [glibc for tag, glibc in _TAGS.items() if tag in row.tag and not match]
    return min(found, key=versions.key, default="")


def driver_minimum(cuda: str, *, windows: bool) -> str:
    """The oldest driver for this CUDA; see tfenv.diagnose.devices."""
    return devices.driver_minimum(cuda, windows=windows) if cuda else ""
