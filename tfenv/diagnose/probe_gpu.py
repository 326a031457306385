"""The NVIDIA side of a machine: driver, devices, and CUDA's libraries wherever they may lie.

The driver is asked through its own libraries by ctypes (NVML, then libcuda); nothing is started.
"""

from __future__ import annotations

import ctypes
import os
import platform
import re
import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tfenv.diagnose import versions
from tfenv.diagnose.machine import Driver, Gpu, Lib, Tools

_NAMES = (
    "cudart",
    "cublas",
    "cublasLt",
    "cufft",
    "curand",
    "cusolver",
    "cusparse",
    "cupti",
    "cudnn",
)
_LINUX = re.compile(rf"lib({'|'.join(_NAMES)})\.so\.(\d[\d.]*)\Z")
_WINDOWS = re.compile(
    r"(cudart|cublas|cublasLt|cufft|curand|cusolver|cusparse|cupti|cudnn)64_(\d+)\.dll\Z",
    re.IGNORECASE,
)


class DriverAndGpus(NamedTuple):
    """What the driver says."""

    driver: Driver
    gpus: list[Gpu]


def driver_and_gpus() -> DriverAndGpus:
    """Ask the kernel, NVML and libcuda, each as far as it is there."""
    nvml_version, gpus = _nvml()
    cuda = _libcuda()
    if not gpus and cuda.gpus:
        gpus = cuda.gpus
    nodes = sorted(str(path) for path in Path("/dev").glob("nvidia*")) if os.name == "posix" else []
    driver = Driver(
        kernel_module=_kernel_module(),
        libcuda=cuda.version or (nvml_version if cuda.path else None),
        libcuda_path=cuda.path,
        device_nodes=nodes,
        cuinit=cuda.result,
        pci_devices=_pci_devices(),
    )
    return DriverAndGpus(driver, gpus)


def _kernel_module() -> str | None:
    try:
        text = Path("/proc/driver/nvidia/version").read_text("utf-8", "replace")
    except OSError:
        return None
    match = re.search(r"Kernel Module\s+(?:for \S+\s+)?(\d+\.\d+(?:\.\d+)?)", text)
    return match.group(1) if match else None


def _pci_devices() -> int | None:
    """NVIDIA's display devices (vendor 0x10de, class 0x03) in sysfs."""
    root = Path("/sys/bus/pci/devices")
    if not root.is_dir():
        return None
    count = 0
    for device in root.iterdir():
        try:
            vendor, kind = (device / "vendor").read_text(), (device / "class").read_text()
        except OSError:
            continue
        count += vendor.strip() == "0x10de" and kind.startswith("0x03")
    return count


# --- NVML (nvml.h) ---------------------------------------------------------------------------------

_TEXT = 96  # bytes; NVML_DEVICE_NAME_V2_BUFFER_SIZE


def _nvml() -> tuple[str | None, list[Gpu]]:
    names = ("nvml.dll",) if os.name == "nt" else ("libnvidia-ml.so.1",)
    nvml = _load(names)
    if nvml is None or nvml.nvmlInit_v2() != 0:
        return None, []
    version = ctypes.create_string_buffer(_TEXT)
    said = version.value.decode() if nvml.nvmlSystemGetDriverVersion(version, _TEXT) == 0 else None
    said = version.value.decode("ascii", "replace") or said
    count = ctypes.c_uint(0)
    if nvml.nvmlDeviceGetCount_v2(ctypes.byref(count)) != 0:
        return said, []
    return said, [
        gpu for index in range(min(count.value, 64)) for gpu in [_nvml_gpu(nvml, index)] if gpu
    ]


class _NvmlMemory(ctypes.Structure):
    _fields_ = [
        ("total", ctypes.c_ulonglong),
        ("free", ctypes.c_ulonglong),
        ("used", ctypes.c_ulonglong),
    ]


def _nvml_gpu(nvml: ctypes.CDLL, index: int) -> Gpu | None:
    handle = ctypes.c_void_p()
    if nvml.nvmlDeviceGetHandleByIndex_v2(ctypes.c_uint(index), ctypes.byref(handle)) != 0:
        return None
    name = ctypes.create_string_buffer(_TEXT)
    nvml.nvmlDeviceGetName(handle, name, _TEXT)
    major, minor = ctypes.c_int(0), ctypes.c_int(0)
    known = (
        nvml.nvmlDeviceGetCudaComputeCapability(handle, ctypes.byref(major), ctypes.byref(minor))
        == 0
    )
    memory = _NvmlMemory()
    sized = nvml.nvmlDeviceGetMemoryInfo(handle, ctypes.byref(memory)) == 0
    return Gpu(
        index=index,
        name=name.value.decode("utf-8", "replace"),
        compute_capability=f"{major.value}.{minor.value}" if known else None,
        memory_mib=memory.total >> 20 if sized else None,
        mig=_nvml_mig(nvml, handle),
    )


def _nvml_mig(nvml: ctypes.CDLL, handle: ctypes.c_void_p) -> str | None:
    if not hasattr(nvml, "nvmlDeviceGetMigMode"):
        return None
    now, next_ = ctypes.c_uint(0), ctypes.c_uint(0)
    if nvml.nvmlDeviceGetMigMode(handle, ctypes.byref(now), ctypes.byref(next_)) != 0:
        return None  # not supported by this card
    return "on" if now.value else "off"


# --- libcuda (cuda.h) ------------------------------------------------------------------------------


class _Cuda(NamedTuple):
    path: str | None = None
    version: str | None = None
    result: int | None = None
    gpus: list[Gpu] = []  # noqa: RUF012 a default that nobody changes


def _libcuda() -> _Cuda:
    name = "nvcuda.dll" if os.name == "nt" else "libcuda.so.1"
    cuda = _load((name, "/usr/lib/wsl/lib/libcuda.so.1")) if os.name == "posix" else _load((name,))
    if cuda is None:
        return _Cuda()
    path = find_on_loader_path(name)
    real = path.resolve() if path else None
    match = re.search(r"\.so\.(\d+\.\d+(?:\.\d+)?)\Z", real.name) if real else None
    result = int(cuda.cuInit(0))
    gpus = _cuda_gpus(cuda) if result == 0 else []
    return _Cuda(str(path) if path else name, match.group(1) if match else None, result, gpus)


def _cuda_gpus(cuda: ctypes.CDLL) -> list[Gpu]:
    count = ctypes.c_int(0)
    if cuda.cuDeviceGetCount(ctypes.byref(count)) != 0:
        return []
    found = []
    for index in range(min(count.value, 64)):
        device, name = ctypes.c_int(0), ctypes.create_string_buffer(_TEXT)
        if cuda.cuDeviceGet(ctypes.byref(device), index) != 0:
            continue
        cuda.cuDeviceGetName(name, _TEXT, device)
        numbers = []
        for attribute in (75, 76):  # CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR and _MINOR
            value = ctypes.c_int(0)
            cuda.cuDeviceGetAttribute(ctypes.byref(value), attribute, device)
            numbers.append(str(value.value))
        found.append(
            Gpu(
                index=index,
                name=name.value.decode("utf-8", "replace"),
                compute_capability=".".join(numbers),
            )
        )
    return found


def _load(names: tuple[str, ...]) -> ctypes.CDLL | None:
    for name in names:
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    return None


# --- libraries -------------------------------------------------------------------------------------


def libraries(sites: list[Path], prefix: Path) -> list[Lib]:
    """CUDA's libraries by soname, on every path that the loader or TensorFlow would use, and where
    they lie unseen. A soname is listed once, at the place that the loader takes first."""
    found: dict[str, Lib] = {}
    for folder, visible in _folders(sites, prefix):
        for path in _files(folder):
            soname = _soname(path.name)
            if soname and soname not in found:
                found[soname] = Lib(
                    soname=soname, version=_version(path), path=str(path), visible=visible
                )
    return sorted(found.values(), key=lambda lib: lib.soname or "")


def _folders(sites: list[Path], prefix: Path) -> Iterator[tuple[Path, bool]]:
    for text in os.environ.get("LD_LIBRARY_PATH", "").split(os.pathsep):
        if text:
            yield Path(text), True
    if os.name == "nt":
        for text in os.environ.get("PATH", "").split(os.pathsep):
            yield Path(text), True
    for path in dict.fromkeys(path.parent for path in _cached().values()):
        yield path, True
    for text in ("/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib"):
        yield Path(text), True
    for site in sites:
        for folder in sorted(site.glob("nvidia/*/lib")) + sorted(site.glob("nvidia/*/bin")):
            yield folder, False
    yield prefix / "lib", False
    for root in sorted(Path("/usr/local").glob("cuda*")) + sorted(Path("/opt").glob("cuda*")):
        for folder in (
            root / "lib64",
            root / "targets/x86_64-linux/lib",
            root / "extras/CUPTI/lib64",
        ):
            yield folder, False


def _files(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir(), key=lambda path: len(path.name)) if folder.is_dir() else []
    except OSError:
        return []


def _soname(name: str) -> str | None:
    """The name by which programs ask: libcudart keeps major.minor, the others the major version."""
    if _WINDOWS.match(name):
        return name
    match = _LINUX.match(name)
    if match is None:
        return None
    library, number = match.groups()
    if library == "cudart" and versions.key(number) >= (12,):
        return f"libcudart.so.{number.split('.')[0]}"
    if library == "cudart":
        return f"libcudart.so.{versions.minor(number)}" if "." in number else None
    return (
        f"lib{library}.so.{number}"
        if number.count(".") == 0 or versions.key(number) < (10, 1)
        else None
    )


def _version(path: Path) -> str | None:
    """The full version: of the file that a link names, else of cuDNN's or NVIDIA's own constant."""
    real = path.resolve()
    match = _LINUX.match(real.name)
    if match and match.group(2).count(".") >= 2:
        return match.group(2)
    return _package_version(path) or (match.group(2) if match else None)


def _package_version(path: Path) -> str | None:
    """The version of the pip package that a library in site-packages/nvidia belongs to."""
    parts = path.parts
    if "nvidia" not in parts:
        return None
    place = len(parts) - 1 - parts[::-1].index("nvidia")
    if place + 1 >= len(parts):
        return None
    name, site = parts[place + 1], Path(*parts[:place])
    for info in sorted(site.glob(f"nvidia_{name}_cu*.dist-info")):
        return info.name.removesuffix(".dist-info").rsplit("-", 1)[-1]
    return None


def tools(sites: list[Path], prefix: Path) -> Tools:
    """nvcc, ptxas and libdevice, where XLA would look and where they may be pointed to."""
    roots = [Path(os.environ[name]) for name in ("CUDA_HOME", "CUDA_PATH") if os.environ.get(name)]
    flag = re.search(r"--xla_gpu_cuda_data_dir=(\S+)", os.environ.get("XLA_FLAGS", ""))
    roots += [Path(flag.group(1))] if flag else []
    roots += sorted(Path("/usr/local").glob("cuda*"))
    roots += [site / "nvidia" / "cuda_nvcc" for site in sites] + [prefix, Path("/usr")]
    folders = [root / "bin" for root in roots] + [Path(p) for p in os.get_exec_path()]
    return Tools(
        nvcc=_first(folder / "nvcc" for folder in folders),
        ptxas=_first(folder / "ptxas" for folder in folders),
        libdevice=_first(
            root / place / "libdevice.10.bc"
            for root in roots
            for place in ("nvvm/libdevice", "lib/nvidia-cuda-toolkit/libdevice")
        ),
    )


def _first(paths: Iterator[Path]) -> str | None:
    return next((str(path) for path in paths if path.is_file()), None)


_cache: dict[str, Path] = {}


def _cached() -> dict[str, Path]:
    """The loader's cache: `ldconfig -p`, soname to path of 64-bit libraries."""
    if _cache or platform.system() != "Linux":
        return _cache
    for program in ("/sbin/ldconfig", "/usr/sbin/ldconfig"):
        try:
            done = subprocess.run([program, "-p"], capture_output=True, timeout=10, check=False)
        except (OSError, subprocess.SubprocessError):
            continue
        for line in done.stdout.decode("utf-8", "replace").splitlines():
            match = re.match(r"\s+(\S+) \([^)]*\) => (/\S+)", line)
            if match and ("64" in line or struct.calcsize("P") == 4):
                _cache.setdefault(match.group(1), Path(match.group(2)))
        break
    return _cache


def find_on_loader_path(soname: str) -> Path | None:
    """Where the loader finds a library first: LD_LIBRARY_PATH, then its cache."""
    for text in os.environ.get("LD_LIBRARY_PATH", "").split(os.pathsep):
        if text and (Path(text) / soname).exists():
            return Path(text) / soname
    return _cached().get(soname)
