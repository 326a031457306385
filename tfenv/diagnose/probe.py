"""Describe this machine, without importing TensorFlow and without changing anything."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path

import msgspec

from tfenv.diagnose import probe_gpu
from tfenv.diagnose.machine import (
    Container,
    Cpu,
    Libc,
    Memory,
    Probe,
    Python,
    System,
    TensorFlow,
)

# Distributions that carry TensorFlow itself, the likelier ones first.
_TENSORFLOWS = (
    "tensorflow", "tensorflow-gpu", "tensorflow-cpu", "tensorflow-macos", "tensorflow-intel",
    "intel-tensorflow", "nvidia-tensorflow", "tf-nightly",
)  # fmt: skip
_COMPANIONS = (
    "numpy", "protobuf", "keras", "tf-keras", "h5py", "tensorboard", "setuptools", "pip",
    "tensorflow-directml", "tensorflow-metal",
)  # fmt: skip
_ENV = (
    "LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES", "XLA_FLAGS", "NVIDIA_VISIBLE_DEVICES",
    "NVIDIA_DRIVER_CAPABILITIES", "WSL_DISTRO_NAME", "SLURM_JOB_ID", "CUDA_HOME", "CUDA_PATH",
    "TF_FORCE_GPU_ALLOW_GROWTH", "TF_USE_LEGACY_KERAS", "PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION",
    "CONDA_DEFAULT_ENV",
)  # fmt: skip

# Runs in the probed Python, which may be any from 3.5 on; prints one JSON line.
_QUESTION = r"""
import json, platform, struct, sys, sysconfig
found = {}
try:
    from importlib import metadata
    for d in metadata.distributions():
        name = (d.metadata["Name"] or "").lower().replace("_", "-")
        found.setdefault(name, d.version)
except ImportError:
    try:
        import pkg_resources
        for d in pkg_resources.working_set:
            found.setdefault(d.project_name.lower(), d.version)
    except ImportError:
        pass
print(json.dumps({
    "version": platform.python_version(), "bits": struct.calcsize("P") * 8,
    "machine": platform.machine(), "executable": sys.executable,
    "site": [sysconfig.get_paths()[k] for k in ("purelib", "platlib")], "prefix": sys.prefix,
    "packages": found,
}))
"""


def this_machine(python: str = "") -> Probe:
    """The probe of this machine and of the Python that `python` names, else the active one."""
    asked = _ask_python(python or _active_python())
    sites = [Path(site) for site in dict.fromkeys(asked.site)]
    prefix = Path(asked.prefix or sys.prefix)
    libraries = probe_gpu.libraries(sites, prefix)
    gpu = probe_gpu.driver_and_gpus()
    return Probe(
        os=_system(),
        libc=_libc(),
        libstdcxx_max=_libstdcxx(),
        python=_python(asked),
        cpu=_cpu(),
        memory=_memory(),
        driver=gpu.driver,
        gpus=gpu.gpus,
        cuda_libs=[
            lib for lib in libraries if not (lib.soname or "").startswith(("libcudnn", "cudnn"))
        ],
        cudnn=next(
            (lib for lib in libraries if (lib.soname or "").startswith(("libcudnn", "cudnn"))), None
        ),
        cuda_tools=probe_gpu.tools(sites, prefix),
        tensorflow=_tensorflow(asked, sites),
        env={name: os.environ.get(name) for name in _ENV if name in os.environ or name in _ENV[:3]},
        container=_container(),
    )


# --- Python -----------------------------------------------------------------------------------


def _active_python() -> str:
    """The Python of the active environment; that is where TensorFlow is, or will be."""
    for variable in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        prefix = os.environ.get(variable)
        if prefix:
            for name in ("bin/python", "python.exe", "Scripts/python.exe"):
                if (Path(prefix) / name).is_file():
                    return str(Path(prefix) / name)
    return sys.executable


class _Answer(msgspec.Struct, frozen=True):
    version: str = ""
    bits: int = 0
    machine: str = ""
    executable: str = ""
    site: list[str] = []
    prefix: str = ""
    packages: dict[str, str] = {}


def _ask_python(executable: str) -> _Answer:
    try:
        done = subprocess.run(
            [executable, "-c", _QUESTION], capture_output=True, timeout=60, check=True
        )
        return msgspec.json.decode(done.stdout.strip().splitlines()[-1], type=_Answer)
    except (OSError, subprocess.SubprocessError, msgspec.MsgspecError, IndexError):
        return _Answer(executable=executable)


def _python(asked: _Answer) -> Python:
    kept = {n: v for n, v in asked.packages.items() if _is_relevant(n)}
    return Python(
        version=asked.version or None,
        bits=asked.bits or None,
        machine=asked.machine or None,
        executable=asked.executable,
        packages=dict(sorted(kept.items())),
    )


def _is_relevant(name: str) -> bool:
    return name in _COMPANIONS or name in _TENSORFLOWS or name.startswith("nvidia-")


def _tensorflow(asked: _Answer, sites: list[Path]) -> TensorFlow:
    name = next((n for n in _TENSORFLOWS if n in asked.packages), "")
    if not name:
        return TensorFlow()
    info = _build_info(sites)
    capabilities = info.get("cuda_compute_capabilities")
    return TensorFlow(
        version=asked.packages[name],
        distribution=name,
        installed_from="wheel",
        is_cuda_build=bool(info["is_cuda_build"]) if "is_cuda_build" in info else None,
        build_cuda=_text(info.get("cuda_version")),
        build_cudnn=_text(info.get("cudnn_version")),
        build_compute_capabilities=(
            [str(c) for c in capabilities] if isinstance(capabilities, (list, tuple)) else None
        ),
    )


def _build_info(sites: list[Path]) -> dict[str, object]:
    """TensorFlow's build_info.py, read as text."""
    from tfenv.wheel import contents

    for site in sites:
        for package in ("tensorflow", "tensorflow_core"):
            path = site / package / "python" / "platform" / "build_info.py"
            if path.is_file() and path.stat().st_size < 1 << 20:
                return contents.build_info(path.read_text("utf-8", "replace"))
    return {}


def _text(value: object) -> str | None:
    return str(value) if value not in (None, "") else None


# --- the system -------------------------------------------------------------------------------


def _system() -> System:
    return System(
        system=platform.system(),
        distribution=_distribution(),
        kernel=platform.release(),
        machine=_hardware(),
    )


def _hardware() -> str:
    """The hardware, also where Rosetta tells this process another one."""
    if platform.system() == "Darwin" and _output(["sysctl", "-n", "hw.optional.arm64"]) == "1":
        return "arm64"
    return platform.machine()


def _distribution() -> str:
    system = platform.system()
    if system == "Linux":
        text = _read(Path("/etc/os-release"))
        match = re.search(r'^PRETTY_NAME="?([^"\n]*)', text, re.MULTILINE)
        return match.group(1) if match else "Linux"
    if system == "Darwin":
        return f"macOS {platform.mac_ver()[0]}"
    return f"{system} {platform.version()}"


def _libc() -> Libc:
    if platform.system() != "Linux":
        return Libc(name={"Darwin": "libSystem", "Windows": "msvcrt"}.get(platform.system()))
    name, version = platform.libc_ver()
    if name == "glibc":
        return Libc(name="glibc", version=version)
    musl = next(Path("/lib").glob("ld-musl-*"), None)
    return Libc(name="musl" if musl else None, version=None)


def _libstdcxx() -> str | None:
    """The newest GLIBCXX_ version of the libstdc++ that the loader finds first."""
    path = probe_gpu.find_on_loader_path("libstdc++.so.6")
    if path is None:
        return None
    found = set(re.findall(rb"GLIBCXX_(\d+\.\d+(?:\.\d+)?)\0", path.read_bytes()))
    numbers = sorted(tuple(map(int, v.split(b"."))) for v in found)
    return "GLIBCXX_" + ".".join(map(str, numbers[-1])) if numbers else None


_CPU_FLAGS = frozenset(
    ["sse4_1", "sse4_2", "ssse3", "popcnt", "avx", "avx2", "fma", "f16c", "bmi1", "bmi2", "avx512f",
     "avx512_vnni", "avx_vnni", "amx_tile", "asimd", "fp", "atomics"]
)  # fmt: skip


def _cpu() -> Cpu:
    text = _read(Path("/proc/cpuinfo"))
    if text:
        model = re.search(r"^model name\s*:\s*(.*)$", text, re.MULTILINE)
        flags = re.search(r"^(?:flags|Features)\s*:\s*(.*)$", text, re.MULTILINE)
        return Cpu(
            model=model.group(1) if model else platform.processor() or None,
            flags=[f for f in (flags.group(1).split() if flags else []) if f in _CPU_FLAGS],
            count=os.cpu_count(),
        )
    if platform.system() == "Darwin":
        names = _output(["sysctl", "-n", "machdep.cpu.features", "machdep.cpu.leaf7_features"])
        words = names.lower().replace(".", "_").replace("avx1_0", "avx").split()
        brand = _output(["sysctl", "-n", "machdep.cpu.brand_string"])
        return Cpu(
            model=brand or None, flags=[w for w in words if w in _CPU_FLAGS], count=os.cpu_count()
        )
    return Cpu(model=platform.processor() or None, flags=_windows_flags(), count=os.cpu_count())


def _windows_flags() -> list[str]:
    """IsProcessorFeaturePresent, winnt.h: PF_AVX_INSTRUCTIONS_AVAILABLE 39, AVX2 40, AVX512F 41."""
    if platform.system() != "Windows":
        return []
    import ctypes

    kernel = getattr(ctypes, "windll").kernel32  # noqa: B009 absent elsewhere
    wanted = {"sse4_1": 37, "sse4_2": 38, "avx": 39, "avx2": 40, "avx512f": 41}
    return [name for name, number in wanted.items() if kernel.IsProcessorFeaturePresent(number)]


def _memory() -> Memory:
    match = re.search(r"^MemTotal:\s*(\d+) kB", _read(Path("/proc/meminfo")), re.MULTILINE)
    return Memory(
        total_mib=int(match.group(1)) // 1024 if match else None,
        disk_free_mib=_free(Path.cwd()),
        tmp_free_mib=_free(Path(os.environ.get("TMPDIR") or "/tmp")),  # noqa: S108 only asked
    )


def _free(path: Path) -> int | None:
    try:
        return shutil.disk_usage(path).free >> 20
    except OSError:
        return None


def _container() -> Container:
    kind = None
    if Path("/.dockerenv").exists():
        kind = "docker"
    elif Path("/run/.containerenv").exists():
        kind = "podman"
    elif os.environ.get("SINGULARITY_NAME") or os.environ.get("APPTAINER_NAME"):
        kind = "apptainer"
    elif re.search(r"docker|kubepods|containerd|lxc", _read(Path("/proc/1/cgroup"))):
        kind = "other"
    nodes = bool(list(Path("/dev").glob("nvidia[0-9]*"))) if kind else None
    return Container(inside=kind is not None, kind=kind, gpu_flag=nodes)


def _read(path: Path) -> str:
    try:
        return path.read_text("utf-8", "replace")
    except OSError:
        return ""


def _output(command: list[str]) -> str:
    try:
        done = subprocess.run(command, capture_output=True, timeout=10, check=False)
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.decode("utf-8", "replace").strip()
