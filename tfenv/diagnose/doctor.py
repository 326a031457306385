"""From a probe to findings: what stands between this machine and TensorFlow on its GPU.

Each rule is a function of one subject that yields findings. A cause hides its consequences: a
machine without a GPU gets no list of missing CUDA libraries.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

import msgspec

from tfenv.diagnose import devices, needs, versions
from tfenv.diagnose.gpu import library
from tfenv.diagnose.machine import Container, Driver, Gpu, Probe, Tools
from tfenv.diagnose.needs import Needs

Severity = Literal["error", "warning", "info"]
_ORDER = {"error": 0, "warning": 1, "info": 2}


class Finding(msgspec.Struct, frozen=True):
    """One thing that a person should know, and the next step."""

    code: str
    severity: Severity
    detail: str
    fix: str


def findings(
    probe: Probe, target_version: str = "", *, target_cuda: bool | None = None
) -> list[Finding]:
    """All findings, errors first; `target_cuda` None: as the installed build."""
    needed = needs.of(probe, target_version, target_cuda=target_cuda)
    found: list[Finding] = []
    for rule in (_python, _installed, _cpu, _libc, _macos, _resources):
        found += rule(probe, needed)
    if probe.os.system != "Darwin":
        found += _gpu_findings(probe, needed)
    found += _messages(probe)
    return sorted(found, key=lambda f: _ORDER[f.severity])


# --- the interpreter and the build ---------------------------------------------------------


def _python(probe: Probe, needed: Needs) -> Iterator[Finding]:
    python = probe.python
    if python is None:
        return
    if python.bits == 32:
        yield Finding(
            "python-32bit", "error", "this Python is a 32-bit program; TensorFlow exists for 64 bit only",
            "install a 64-bit Python",
        )  # fmt: skip
    minor = versions.minor(python.version or "")
    if minor and needed.pythons and minor not in needed.pythons:
        supported = ", ".join(needed.pythons)
        yield Finding(
            "python-not-supported-by-tf", "error",
            f"Python {python.version} has no wheel of TensorFlow {needed.version}; it supports {supported}",
            f"make an environment with Python {needed.pythons[-1]}: uv venv -p {needed.pythons[-1]}",
        )  # fmt: skip


def _installed(probe: Probe, needed: Needs) -> Iterator[Finding]:
    tf = probe.tensorflow
    installed = tf.version if tf else None
    if not installed and needed.version:
        yield Finding(
            "tensorflow-not-installed", "error", f"TensorFlow {needed.version} is not installed in this Python",
            f"tfenv generate {needed.version}-{'cuda' if needed.wants_cuda else 'cpu'} --purpose run",
        )  # fmt: skip
    elif not installed:
        yield Finding(
            "tensorflow-not-installed", "info", "no TensorFlow is installed in this Python",
            "name a target: tfenv doctor 2.6.5-cuda",
        )  # fmt: skip
    elif needed.said_by == "target" and installed != needed.version:
        yield Finding(
            "tensorflow-other-version", "warning",
            f"TensorFlow {installed} is installed, the target is {needed.version}",
            f"tfenv generate {needed.version}-{'cuda' if needed.wants_cuda else 'cpu'} --purpose run",
        )  # fmt: skip


def _cpu(probe: Probe, needed: Needs) -> Iterator[Finding]:
    flags = {flag.lower() for flag in (probe.cpu.flags if probe.cpu else [])}
    machine = ((probe.python.machine if probe.python else None) or probe.os.machine or "").lower()
    x86 = machine in {"x86_64", "amd64", "x64"} and (probe.os.machine or machine).lower() != "arm64"
    if not flags or not x86 or "avx" in flags:
        return
    if not needed.version or versions.compare(needed.version, ">=", "1.6"):
        yield Finding(
            "cpu-lacks-avx", "error",
            "this CPU has no AVX, which official wheels need from 1.6 on; they end in SIGILL",
            "build without it (CC_OPT_FLAGS=-march=x86-64), or pass the host's CPU into the virtual machine",
        )  # fmt: skip


def _libc(probe: Probe, needed: Needs) -> Iterator[Finding]:
    libc = probe.libc
    if libc is None or (libc.name or "").lower() not in {"glibc", "musl"} or not needed.glibc:
        return
    if libc.name == "musl":
        yield Finding(
            "glibc-too-old", "error", "this system has musl instead of glibc; there are no wheels for it",
            "use a container of a glibc distribution (Debian, Ubuntu)",
        )  # fmt: skip
    elif versions.compare(libc.version or "", "<", needed.glibc):
        yield Finding(
            "glibc-too-old", "error",
            f"glibc {libc.version} is older than the {needed.glibc} that the wheel of {needed.version} needs",
            "use a newer distribution or a container, or build here from source",
        )  # fmt: skip


def _macos(probe: Probe, needed: Needs) -> Iterator[Finding]:
    if probe.os.system != "Darwin":
        return
    arm = (probe.os.machine or "").lower() in {"arm64", "aarch64"}
    if arm and probe.python and (probe.python.machine or "").lower() == "x86_64":
        yield Finding(
            "macos-x86-wheel-on-arm", "error",
            "this Python is x86-64 and runs under Rosetta, which has no AVX",
            "install an arm64 Python and the arm64 package (tensorflow-macos up to 2.12, then tensorflow)",
        )  # fmt: skip
    wants = needed.wants_cuda and needed.said_by == "target"
    yield Finding(
        "macos-no-cuda", "error" if wants else "info", "TensorFlow has no CUDA on macOS",
        "use the CPU build (Apple Silicon: tensorflow-metal for its GPU)",
    )  # fmt: skip


def _resources(probe: Probe, _needed: Needs) -> Iterator[Finding]:
    memory = probe.memory
    if memory is None or memory.disk_free_mib is None:
        return
    if memory.disk_free_mib < 4000:
        yield Finding(
            "disk-nearly-full", "warning", f"{memory.disk_free_mib} MiB are free here; an installation takes 1 to 6 GB",
            "free space, or work on another disk",
        )  # fmt: skip


# --- the GPU --------------------------------------------------------------------------------


def _gpu_findings(probe: Probe, needed: Needs) -> list[Finding]:
    first = [
        *_windows(probe, needed),
        *_wsl(probe),
        *_container(probe, needed),
        *_not_cuda(probe, needed),
    ]
    if any(f.severity == "error" for f in first):
        return first
    visible = list(_driver(probe, needed))
    if visible or not probe.gpus:
        return first + visible
    if not needed.wants_cuda:
        return first
    rest = [
        *_driver_age(probe, needed),
        *_hidden(probe),
        *_mig(probe),
        *_libraries(probe, needed),
        *_cudnn(probe, needed),
        *_tools(probe, needed),
        *_architectures(probe, needed),
    ]
    serious = [f for f in rest if f.severity == "error"]
    return first + rest + ([] if serious else list(_fine(probe, needed)))


def _windows(probe: Probe, needed: Needs) -> Iterator[Finding]:
    if probe.os.system != "Windows" or not versions.compare(needed.version, ">=", "2.11"):
        return
    if probe.gpus or (needed.said_by == "target" and needed.wants_cuda):
        yield Finding(
            "windows-native-no-gpu", "error",
            f"native Windows builds have had no CUDA since 2.11; this is about {needed.version}",
            "use WSL 2 with the Linux wheel, or 2.10.1-cuda-windows natively",
        )  # fmt: skip


def _is_wsl(probe: Probe) -> bool:
    env = probe.env or {}
    return "microsoft" in (probe.os.kernel or "").lower() or bool(env.get("WSL_DISTRO_NAME"))


def _wsl(probe: Probe) -> Iterator[Finding]:
    if not _is_wsl(probe):
        return
    kernel = probe.os.kernel or ""
    old = versions.compare(kernel, "<", "4.19") and "microsoft-standard" not in kernel
    if "-Microsoft" in kernel or old:
        yield Finding(
            "wsl-version-1", "error", f"this is WSL 1 (kernel {kernel}), which has no GPU access",
            "wsl --set-version DISTRIBUTION 2",
        )  # fmt: skip
    if probe.driver and not probe.driver.libcuda and not probe.driver.libcuda_path:
        yield Finding(
            "wsl-libcuda-missing", "error", "/usr/lib/wsl/lib/libcuda.so.1 of the Windows driver is not there",
            "install the current NVIDIA driver on Windows only, then wsl --update",
        )  # fmt: skip


def _container(probe: Probe, needed: Needs) -> Iterator[Finding]:
    box = probe.container or Container()
    driver = probe.driver or Driver()
    env = probe.env or {}
    if not box.inside or driver.libcuda or driver.device_nodes or driver.pci_devices == 0:
        return
    if not (needed.wants_cuda or box.gpu_flag is not None or env.get("NVIDIA_VISIBLE_DEVICES")):
        return
    yield Finding(
        "container-without-gpu", "error",
        "this is a container without the driver's library and device files: it was started without a GPU",
        "docker run --gpus all … (podman: --device nvidia.com/gpu=all)",
    )  # fmt: skip
    if box.toolkit_on_host is False:
        yield Finding(
            "container-toolkit-missing", "error", "the host has no NVIDIA container toolkit",
            "install nvidia-container-toolkit on the host, nvidia-ctk runtime configure, restart docker",
        )  # fmt: skip


def _not_cuda(probe: Probe, needed: Needs) -> Iterator[Finding]:
    tf = probe.tensorflow
    if tf is None or not tf.version or tf.is_cuda_build is not False or not probe.gpus:
        return
    if needed.said_by == "target" and not needed.wants_cuda:
        return
    yield Finding(
        "tensorflow-not-cuda-build", "error", f"the installed TensorFlow {tf.version} is a CPU build",
        "install the CUDA build: tfenv list --variant cuda",
    )  # fmt: skip


def _driver(probe: Probe, needed: Needs) -> Iterator[Finding]:
    """No GPU at all, or a driver that does not work."""
    driver = probe.driver or Driver()
    module, library_version = driver.kernel_module, driver.libcuda
    differ = module and library_version and versions.key(module) != versions.key(library_version)
    if differ and "compat" not in (driver.libcuda_path or "") and probe.os.system != "Windows":
        yield Finding(
            "driver-kernel-library-mismatch", "error",
            f"the loaded kernel module is {module}, the driver's library is {library_version}",
            "reboot, or unload and load the nvidia modules",
        )  # fmt: skip
        return
    if driver.cuinit not in (None, 0, 100):
        yield from _cuinit(driver)
        return
    if probe.gpus:
        return
    if driver.pci_devices and not module:
        yield Finding(
            "driver-module-or-permission", "error",
            f"{driver.pci_devices} NVIDIA device(s) are on the bus, and no driver is loaded",
            "install NVIDIA's driver and reboot; nvidia-smi must list the GPU",
        )  # fmt: skip
    elif module and not driver.device_nodes and probe.os.system == "Linux":
        yield Finding(
            "driver-module-or-permission", "error", "the kernel module is loaded, and there are no /dev/nvidia* files",
            "sudo nvidia-modprobe -u -c=0, or check the rights and the container's --device",
        )  # fmt: skip
    else:
        wants = needed.wants_cuda and needed.said_by == "target"
        yield Finding(
            "no-nvidia-gpu", "warning" if wants else "info", _why_no_gpu(probe),
            "use a machine with an NVIDIA GPU, or the CPU variant" if wants else "nothing to do for the CPU",
        )  # fmt: skip


def _cuinit(driver: Driver) -> Iterator[Finding]:
    """cuInit's results: cuda.h, CUresult."""
    number = driver.cuinit or 0
    if number == 803:
        yield Finding(
            "driver-kernel-library-mismatch", "error", "cuInit: kernel module and driver library differ (803)",
            "reboot, or unload and load the nvidia modules",
        )  # fmt: skip
    elif number in {35, 804}:
        yield Finding(
            "driver-too-old-for-cuda", "error", f"cuInit fails with {number}: the driver is older than this libcuda",
            "update the driver, and keep cuda/compat off LD_LIBRARY_PATH",
        )  # fmt: skip
    else:
        yield Finding(
            "driver-module-or-permission", "error", f"the driver is installed, and cuInit fails with error {number}",
            "sudo modprobe nvidia_uvm; check /dev/nvidia* and their rights; reboot after an update",
        )  # fmt: skip


def _why_no_gpu(probe: Probe) -> str:
    driver = probe.driver or Driver()
    parts = []
    if driver.pci_devices == 0:
        parts.append("no NVIDIA device is on the PCI bus")
    parts.append(
        f"kernel module {driver.kernel_module}"
        if driver.kernel_module
        else "no NVIDIA kernel module is loaded"
    )
    if not driver.libcuda and not driver.libcuda_path:
        parts.append("libcuda is not found")
    elif driver.cuinit == 100:
        parts.append("cuInit says that there is no device")
    return "no GPU: " + ", ".join(parts)


def _driver_age(probe: Probe, needed: Needs) -> Iterator[Finding]:
    driver = probe.driver or Driver()
    # In a container, and with cuda/compat, the kernel's part is what counts.
    version = driver.kernel_module or driver.libcuda or ""
    minimum = needs.driver_minimum(needed.cuda, windows=probe.os.system == "Windows")
    if version and minimum and versions.compare(version, "<", minimum):
        yield Finding(
            "driver-too-old-for-cuda", "error",
            f"driver {version} is older than the {minimum} that CUDA {needed.cuda} needs",
            f"update the driver to {minimum} or later, or use a release with an older CUDA",
        )  # fmt: skip


def _hidden(probe: Probe) -> Iterator[Finding]:
    value = (probe.env or {}).get("CUDA_VISIBLE_DEVICES")
    if value is None:
        return
    text = str(value).strip()
    first = text.split(",")[0].strip()
    count = len(probe.gpus or [])
    beyond = first.isdigit() and int(first) >= count
    if text in {"", "-1", "NoDevFiles", "none", "void"} or first.startswith("-") or beyond:
        yield Finding(
            "cuda-visible-devices-hides-all", "error", f"CUDA_VISIBLE_DEVICES is {text!r}, which hides every GPU",
            "unset CUDA_VISIBLE_DEVICES, or name a device of nvidia-smi -L",
        )  # fmt: skip


def _mig(probe: Probe) -> Iterator[Finding]:
    on = [g for g in probe.gpus or [] if str(g.mig).lower() in {"on", "true", "enabled", "1"}]
    if not on:
        return
    env = probe.env or {}
    named = str(env.get("CUDA_VISIBLE_DEVICES") or env.get("NVIDIA_VISIBLE_DEVICES") or "")
    items = [item.strip() for item in named.split(",") if item.strip()]
    slices = [item for item in items if item.startswith("MIG-")]
    if items and items != ["all"] and not slices:
        yield Finding(
            "mig-device-selection", "error", f"MIG is on, and the visible devices are {named!r}: no slice's UUID",
            "CUDA_VISIBLE_DEVICES=MIG-<uuid of nvidia-smi -L>",
        )  # fmt: skip
    elif len(slices) > 1:
        yield Finding(
            "mig-single-device-per-process", "warning", f"{len(slices)} MIG slices are named; a process can use one",
            "start one process per slice, each with its own UUID",
        )  # fmt: skip
    elif not slices:
        yield Finding(
            "mig-single-device-per-process", "info", "MIG is on: a process sees one slice, the first",
            "name the slice: CUDA_VISIBLE_DEVICES=MIG-<uuid of nvidia-smi -L>",
        )  # fmt: skip


def _libraries(probe: Probe, needed: Needs) -> Iterator[Finding]:
    libs = probe.cuda_libs
    if libs is None or not needed.libraries:
        return
    have = {lib.soname: lib for lib in libs if lib.soname}
    lacking = {n: s for n, s in needed.libraries.items() if s not in have}
    severity: Severity = "error" if probe.tensorflow and probe.tensorflow.version else "warning"
    others = sorted(
        {s for s in have for n in lacking if s and library(s)[0] == n and s.startswith("lib")}
    )
    # cufft and cusolver keep one soname over two CUDA versions: they prove nothing.
    own = {"cudart", "cublas", "cusparse"} - set(lacking)
    if lacking and own and others:
        yield Finding(
            "mixed-cuda-versions", severity,
            f"libraries of several CUDA versions: {', '.join(others)} beside what CUDA {needed.cuda} needs",
            f"keep one CUDA ({versions.minor(needed.cuda)}) on the search path",
        )  # fmt: skip
    elif lacking:
        found = f"; found instead {', '.join(others)}" if others else ""
        yield Finding(
            "cuda-libs-missing", severity, f"not found: {', '.join(sorted(lacking.values()))}{found}",
            f"install CUDA {versions.minor(needed.cuda)} and put its lib64 on LD_LIBRARY_PATH",
        )  # fmt: skip
    else:
        yield from _mixed_majors(probe, needed)
        yield from _loader_path(probe, needed)
        yield from _cuda_age(probe, needed)


def _mixed_majors(probe: Probe, needed: Needs) -> Iterator[Finding]:
    """All needed names are there, but the files behind them are of different CUDA versions."""
    wanted = set(needed.libraries.values())
    majors = {
        versions.key(lib.version)[:1]
        for lib in probe.cuda_libs or []
        if lib.version
        and lib.soname in wanted
        and library(lib.soname)[0] in {"cudart", "cublas", "cublasLt"}
    }
    folders = {
        _toolkit_folder(lib.path or "") for lib in probe.cuda_libs or [] if lib.soname in wanted
    } - {""}
    if len(majors) > 1 or len(folders) > 1:
        which = (
            ", ".join(sorted(folders))
            if len(folders) > 1
            else "cudart and cublas of different majors"
        )
        yield Finding(
            "mixed-cuda-versions", "warning" if len(majors) <= 1 else "error", f"libraries come from several CUDA versions: {which}",
            f"keep one CUDA ({versions.minor(needed.cuda)}) on the search path",
        )  # fmt: skip


def _toolkit_folder(path: str) -> str:
    match = re.search(r"cuda-(\d+\.\d+)", path)
    return match.group(0) if match else ""


def _loader_path(probe: Probe, needed: Needs) -> Iterator[Finding]:
    """CUDA from pip is found only with a search path, except by releases that carry one."""
    wanted = set(needed.libraries.values())
    paths = [lib for lib in probe.cuda_libs or [] if lib.soname in wanted]
    from_pip = [lib for lib in paths if re.search(r"-packages[/\\]nvidia[/\\]", lib.path or "")]
    if (
        not from_pip
        or len(from_pip) < len(paths)
        or (probe.observed and probe.observed.list_physical_devices_gpu)
    ):
        return
    search = str((probe.env or {}).get("LD_LIBRARY_PATH") or "")
    finds_itself = versions.compare(needed.version, ">=", "2.18") or versions.minor(
        needed.version
    ) in {"2.14", "2.15"}
    if finds_itself or "nvidia" in search or all(lib.visible for lib in from_pip):
        return
    yield Finding(
        "pip-cuda-libs-not-on-loader-path", "error",
        f"CUDA is in site-packages/nvidia, where TensorFlow {needed.version} does not look by itself",
        "put the nvidia/*/lib folders on LD_LIBRARY_PATH, or use 2.15.1, or 2.18 and later",
    )  # fmt: skip


def _cuda_age(probe: Probe, needed: Needs) -> Iterator[Finding]:
    runtime = next(
        (lib for lib in probe.cuda_libs or [] if lib.soname == needed.libraries.get("cudart")), None
    )
    version = (runtime.version if runtime else None) or ""
    if "." in needed.cuda and versions.compare(_two(version), "<", _two(needed.cuda)):
        yield Finding(
            "cuda-older-than-build", "warning", f"CUDA {version} is older than the build's {needed.cuda}",
            f"install CUDA {versions.minor(needed.cuda)}",
        )  # fmt: skip


def _two(version: str) -> str:
    return versions.minor(version)


def _cudnn(probe: Probe, needed: Needs) -> Iterator[Finding]:
    if not needed.cudnn:
        return
    wanted_major = versions.key(needed.cudnn)[:1]
    severity: Severity = "error" if probe.tensorflow and probe.tensorflow.version else "warning"
    found = probe.cudnn
    step = f"install cuDNN {needed.cudnn} or a later one of the same major version"
    if found is None or not (found.soname or found.version):
        yield Finding(
            "cudnn-missing", severity, f"cuDNN {needed.cudnn} is needed and none is found", step
        )
        return
    version = found.version or library(found.soname or "")[1]
    if versions.key(version)[:1] != wanted_major:
        where = f" in {found.path}" if found.path else ""
        yield Finding(
            "cudnn-missing", severity,
            f"cuDNN {needed.cudnn} is needed (libcudnn.so.{needed.cudnn.split('.')[0]}); found {version}{where}", step,
        )  # fmt: skip
    elif versions.compare(_two(version), "<", _two(needed.cudnn)) and "." in needed.cudnn:
        yield Finding(
            "cudnn-older-than-build",
            severity,
            f"cuDNN {version} is older than the {needed.cudnn} of the build",
            step,
        )


def _tools(probe: Probe, needed: Needs) -> Iterator[Finding]:
    """XLA looks for ptxas and libdevice up to 2.16; later builds bring both along."""
    tools = probe.cuda_tools or Tools()
    if (
        probe.cuda_tools is None
        or not probe.cuda_libs
        or not (probe.tensorflow and probe.tensorflow.version)
    ):
        return
    if not versions.compare(needed.version, "<", "2.17"):
        return
    step = "install the nvcc part of CUDA and set XLA_FLAGS=--xla_gpu_cuda_data_dir to its folder"
    if not tools.libdevice and versions.compare(needed.version, ">=", "1.14"):
        yield Finding(
            "libdevice-missing", "warning", "XLA will not find nvvm/libdevice/libdevice.10.bc", step
        )
    if not tools.ptxas and versions.compare(needed.version, ">=", "1.14"):
        yield Finding("ptxas-missing", "warning", "XLA will not find ptxas", step)


def _architectures(probe: Probe, needed: Needs) -> Iterator[Finding]:
    for gpu in probe.gpus or []:
        yield from _architecture(gpu, needed)


def _architecture(gpu: Gpu, needed: Needs) -> Iterator[Finding]:
    """A binary for the same major version runs; PTX compiles for a newer GPU, if the build's CUDA
    knew of it. `compute_80` in TensorFlow's list means both binary and PTX (configure.py)."""
    capability = gpu.compute_capability or devices.capability(gpu.name or "")
    if not capability or not needed.capabilities:
        return
    built = [_capability(item) for item in needed.capabilities]
    own = versions.key(capability)
    name = f"{gpu.name or 'GPU'} (compute capability {capability})"
    if own < min(built):
        yield Finding(
            "gpu-older-than-build", "error", f"{name} is older than the build's kernels ({', '.join(needed.capabilities)})",
            "build for the card, or use an older release",
        )  # fmt: skip
    elif any(_pad(b)[0] == _pad(own)[0] and b <= own for b in built):
        return
    elif _knows(needed.cuda, capability) and any(
        i.startswith("compute") for i in needed.capabilities
    ):
        yield Finding(
            "ptx-jit-slow-start", "warning", f"{name} has no kernels in this build; the first start compiles them",
            "keep the cache: CUDA_CACHE_MAXSIZE=4294967296, CUDA_CACHE_PATH on a lasting disk",
        )  # fmt: skip
    else:
        yield Finding(
            "gpu-newer-than-build", "error", f"{name} is newer than CUDA {needed.cuda} and the kernels of this build",
            "use a release whose CUDA knows the card: tfenv list --gpu NAME",
        )  # fmt: skip


def _capability(item: str) -> tuple[int, ...]:
    digits = re.sub(r"\D", "", item)
    return versions.key(f"{digits[:-1]}.{digits[-1]}") if len(digits) > 1 else (0,)


def _pad(key: tuple[int, ...]) -> tuple[int, ...]:
    return (*key, 0, 0)


def _knows(cuda: str, capability: str) -> bool:
    newest = devices.newest_capability(cuda)
    return bool(newest) and versions.key(capability) <= versions.key(newest)


def _fine(probe: Probe, needed: Needs) -> Iterator[Finding]:
    seen = probe.observed.list_physical_devices_gpu if probe.observed else None
    if (seen is None or seen) and probe.tensorflow and probe.tensorflow.version:
        names = ", ".join(sorted({gpu.name or "GPU" for gpu in probe.gpus or []}))
        yield Finding(
            "gpu-ok",
            "info",
            f"driver, libraries and {names} fit TensorFlow {needed.version}",
            "nothing to do",
        )


# --- messages ---------------------------------------------------------------------------------

_HARMLESS = (
    ("message-numa-harmless", "NUMA node read from SysFS had negative value", "the kernel names no NUMA node"),
    ("message-duplicate-registration-harmless", "Attempting to register factory for plugin", "printed on every start of 2.13 to 2.18"),
)  # fmt: skip


def _messages(probe: Probe) -> Iterator[Finding]:
    lines = (probe.observed.key_lines if probe.observed else None) or []
    for code, text, why in _HARMLESS:
        if any(text in line for line in lines):
            yield Finding(code, "info", f'the message "{text}" is harmless: {why}', "nothing to do")
