"""What a probe of a machine holds: a JSON file that can be attached to a report.

Every field may be null: not there, or not known. Files come from other people's machines, so
that unknown fields are ignored and a wrong type is an error that says where.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from tfenv.errors import FileFormatError


class System(msgspec.Struct, frozen=True):
    """Operating system; `machine` is the hardware, which an emulator may hide from Python."""

    system: str | None = None  # Linux, Windows, Darwin
    distribution: str | None = None
    kernel: str | None = None
    machine: str | None = None


class Libc(msgspec.Struct, frozen=True):
    """The C library."""

    name: str | None = None
    version: str | None = None


class Python(msgspec.Struct, frozen=True):
    """The interpreter that TensorFlow is, or would be, installed into."""

    version: str | None = None
    bits: int | None = None
    machine: str | None = None  # of the interpreter
    executable: str | None = None
    packages: dict[str, str] = {}


class Cpu(msgspec.Struct, frozen=True):
    """The processor."""

    model: str | None = None
    flags: list[str] = []
    count: int | None = None


class Driver(msgspec.Struct, frozen=True):
    """NVIDIA's driver: kernel part, user library, device files, and what cuInit said."""

    kernel_module: str | None = None
    libcuda: str | None = None
    libcuda_path: str | None = None
    device_nodes: list[str] | None = None
    cuinit: int | None = None  # result of cuInit(0); null: not called
    pci_devices: int | None = None  # NVIDIA display devices on the bus


class Gpu(msgspec.Struct, frozen=True):
    """One GPU, as NVML or cuDeviceGet show it."""

    index: int | None = None
    name: str | None = None
    compute_capability: str | None = None
    memory_mib: int | None = None
    mig: Any = None  # "on", "off", null; older files: true, false


class Lib(msgspec.Struct, frozen=True):
    """One shared library that was found; `visible`: on a path that the loader searches."""

    soname: str | None = None
    version: str | None = None
    path: str | None = None
    visible: bool | None = None


class Tools(msgspec.Struct, frozen=True):
    """Programs and files of the CUDA toolkit."""

    nvcc: str | None = None
    ptxas: str | None = None
    libdevice: str | None = None


class TensorFlow(msgspec.Struct, frozen=True):
    """The installed TensorFlow by its own build_info, or the one that is wanted."""

    version: str | None = None
    wanted: str | None = None
    distribution: str | None = None
    installed_from: str | None = None
    is_cuda_build: bool | None = None
    build_cuda: str | None = None
    build_cudnn: str | None = None
    build_compute_capabilities: list[str] | None = None


class Container(msgspec.Struct, frozen=True):
    """Whether this is a container, and how it was started as far as that shows."""

    inside: bool | None = None
    kind: str | None = None
    gpu_flag: bool | None = None
    toolkit_on_host: bool | None = None


class Observed(msgspec.Struct, frozen=True):
    """What TensorFlow itself said, where somebody noted it."""

    import_ok: bool | None = None
    list_physical_devices_gpu: list[str] | None = None
    key_lines: list[str] | None = None


class Memory(msgspec.Struct, frozen=True):
    """RAM and free disk, in MiB."""

    total_mib: int | None = None
    disk_free_mib: int | None = None
    tmp_free_mib: int | None = None


class Probe(msgspec.Struct, frozen=True, kw_only=True):
    """One machine."""

    schema: int = 1
    os: System = System()
    libc: Libc | None = None
    libstdcxx_max: str | None = None
    python: Python | None = None
    cpu: Cpu | None = None
    memory: Memory | None = None
    driver: Driver | None = None
    gpus: list[Gpu] | None = None
    cuda_libs: list[Lib] | None = None
    cudnn: Lib | None = None
    cuda_tools: Tools | None = None
    tensorflow: TensorFlow | None = None
    env: dict[str, Any] | None = None
    container: Container | None = None
    observed: Observed | None = None


def load(path: Path) -> Probe:
    """Read a saved probe.

    Raises:
        FileFormatError: not JSON, or not the shape of a probe.
    """
    try:
        return parse(path.read_bytes())
    except OSError as error:
        raise FileFormatError(
            f"the probe {path} cannot be read", error.strerror or str(error), "name a saved probe"
        ) from error


def parse(data: bytes) -> Probe:
    """A probe from JSON text; see `load`."""
    try:
        return msgspec.json.decode(data, type=Probe, strict=False)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise FileFormatError(
            "this is not a probe of a machine",
            str(error),
            "make one: tfenv doctor --save probe.json",
        ) from error


def render(probe: Probe) -> str:
    """The probe as JSON text."""
    return msgspec.json.format(msgspec.json.encode(probe), indent=1).decode() + "\n"
