"""Machines on paper: each defect gives its finding, and only that."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
import tomli

from tfenv.diagnose import doctor, machine
from tfenv.errors import FileFormatError

DATA = Path(__file__).parents[1] / "data" / "probes" / "machines.toml"
SHARED = Path(__file__).parents[2].parent / "shared" / "facts" / "gpu-probes"
MACHINES: list[dict[str, Any]] = tomli.loads(DATA.read_text("utf-8"))["machine"]

_SITE = "/venv/lib/python3.11/site-packages/nvidia"


def _lib(name: str, soname: str, version: str) -> dict[str, str]:
    return {"soname": soname, "version": version, "path": f"{_SITE}/{name}/lib/{soname}"}


SOUND: dict[str, Any] = {
    "schema": 1,
    "os": {
        "system": "Linux",
        "distribution": "Ubuntu 22.04",
        "kernel": "5.15.0-105-generic",
        "machine": "x86_64",
    },
    "libc": {"name": "glibc", "version": "2.35"},
    "python": {"version": "3.11.9", "bits": 64, "machine": "x86_64"},
    "cpu": {"model": "Xeon", "flags": ["sse4_1", "avx", "avx2"]},
    "driver": {
        "kernel_module": "535.129.03",
        "libcuda": "535.129.03",
        "libcuda_path": "/usr/lib/x86_64-linux-gnu/libcuda.so.1",
        "device_nodes": ["/dev/nvidia0", "/dev/nvidiactl", "/dev/nvidia-uvm"],
    },
    "gpus": [
        {"index": 0, "name": "NVIDIA GeForce RTX 3090", "compute_capability": "8.6", "mig": "off"}
    ],
    "cuda_libs": [
        _lib("cuda_runtime", "libcudart.so.12", "12.2.140"),
        _lib("cublas", "libcublas.so.12", "12.2.5.6"),
        _lib("cufft", "libcufft.so.11", "11.0.8.103"),
        _lib("cusolver", "libcusolver.so.11", "11.5.2.141"),
        _lib("cusparse", "libcusparse.so.12", "12.1.2.141"),
    ],
    "cudnn": {"soname": "libcudnn.so.8", "version": "8.9.4", "path": f"{_SITE}/cudnn/lib"},
    "cuda_tools": {"nvcc": None, "ptxas": "/venv/ptxas", "libdevice": "/venv/libdevice.10.bc"},
    "tensorflow": {
        "version": "2.15.1",
        "is_cuda_build": True,
        "build_cuda": "12.2",
        "build_cudnn": "8",
        "build_compute_capabilities": ["sm_50", "sm_60", "sm_70", "sm_75", "compute_80"],
    },
    "env": {"LD_LIBRARY_PATH": "", "CUDA_VISIBLE_DEVICES": None},
    "container": {"inside": False},
}


def _probe(row: dict[str, Any]) -> machine.Probe:
    made = {**SOUND, **{k: v for k, v in row.items() if k not in {"name", "expect", "remove"}}}
    for name in row.get("remove", ()):
        made[name] = None
    return machine.parse(json.dumps(made).encode())


@pytest.mark.parametrize("row", MACHINES, ids=[row["name"] for row in MACHINES])
def test_a_machine_gets_its_findings(row: dict[str, Any]) -> None:
    found = doctor.findings(_probe(row))
    assert sorted(f"{f.code}:{f.severity}" for f in found) == row["expect"], found
    assert all(f.detail and f.fix for f in found)


@pytest.mark.skipif(not SHARED.is_dir(), reason="the shared probes are not beside this checkout")
@pytest.mark.parametrize("name", sorted(p.name for p in SHARED.glob("*.json")))
def test_a_reported_machine_gets_its_findings(name: str) -> None:
    text = (SHARED / name).read_bytes()
    wanted = {(e["code"], e["severity"]) for e in json.loads(text)["expected"]}
    found = doctor.findings(machine.parse(text))
    assert {(f.code, f.severity) for f in found} == wanted


def test_findings_do_not_need_what_tensorflow_said() -> None:
    for path in sorted(SHARED.glob("*.json")) if SHARED.is_dir() else []:
        probe = machine.parse(path.read_bytes())
        with_lines = {f.code for f in doctor.findings(probe)}
        silent = {f.code for f in doctor.findings(msgspec.structs.replace(probe, observed=None))}
        assert {c for c in with_lines if not c.startswith("message-")} == silent


def test_a_target_is_compared_with_the_machine() -> None:
    found = {f.code: f for f in doctor.findings(_probe({}), "2.6.5", target_cuda=True)}
    assert found["python-not-supported-by-tf"].severity == "error"
    assert found["tensorflow-other-version"].severity == "warning"
    assert "libcudart.so.11.0" in found["cuda-libs-missing"].detail


def test_a_cuda_target_on_a_machine_without_a_gpu() -> None:
    row = {"gpus": [], "driver": {"pci_devices": 0, "device_nodes": []}}
    found = {f.code: f for f in doctor.findings(_probe(row), "2.15.1", target_cuda=True)}
    assert found["no-nvidia-gpu"].severity == "warning"
    assert "no NVIDIA device is on the PCI bus" in found["no-nvidia-gpu"].detail


def test_a_saved_probe_reads_back() -> None:
    probe = _probe({})
    assert machine.parse(machine.render(probe).encode()) == probe


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"[]",
        b"{",
        b"\xff\xfe",
        b'{"gpus": 7}',
        b'{"os": []}',
        b'{"schema": "x"}',
        b"[" * 100_000,
    ],
)
def test_a_broken_probe_is_refused(text: bytes) -> None:
    with pytest.raises(FileFormatError):
        machine.parse(text)
