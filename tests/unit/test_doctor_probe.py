"""This machine with a stand-in for NVIDIA's driver, built here with the C compiler."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

DATA = Path(__file__).parents[1] / "data" / "probes"

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or not shutil.which("gcc"), reason="needs Linux and gcc"
)


@pytest.fixture(scope="session")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with libcuda.so.1 and libnvidia-ml.so.1, versioned like NVIDIA's."""
    folder = tmp_path_factory.mktemp("driver")
    source = str(DATA / "stub_driver.c")
    for name in ("libcuda.so", "libnvidia-ml.so"):
        real = folder / f"{name}.535.129.03"
        subprocess.run(["gcc", "-shared", "-fPIC", "-o", str(real), source], check=True)
        (folder / f"{name}.1").symlink_to(real.name)
    return folder


def _doctor(
    driver: Path | None, tmp_path: Path, **settings: str
) -> tuple[dict[str, str], dict[str, object]]:
    """Findings (code to severity) and the saved probe."""
    env = {
        k: v for k, v in os.environ.items() if k not in {"LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES"}
    }
    env |= {"LD_LIBRARY_PATH": str(driver)} if driver else {}
    saved = tmp_path / "probe.json"
    done = subprocess.run(
        [sys.executable, "-m", "tfenv", "doctor", "2.15.1-cuda", "--json", "--save", str(saved)],
        env=env | settings,
        capture_output=True,
        check=False,
    )
    assert done.returncode in {0, 1}, done.stderr
    found = json.loads(done.stdout)["findings"]
    return {f["code"]: f["severity"] for f in found}, json.loads(saved.read_text("utf-8"))


def test_no_gpu(tmp_path: Path) -> None:
    found, probe = _doctor(None, tmp_path)
    assert probe["gpus"] == []
    assert {"no-nvidia-gpu", "container-without-gpu"} & set(found)


@pytest.mark.parametrize("count", [1, 8])
def test_gpus_are_counted(driver: Path, tmp_path: Path, count: int) -> None:
    found, probe = _doctor(driver, tmp_path, STUB_GPUS=str(count))
    gpus = probe["gpus"]
    assert isinstance(gpus, list)
    assert [g["index"] for g in gpus] == list(range(count))
    assert gpus[0]["name"] == "Stub GPU 0"
    assert gpus[0]["compute_capability"] == "8.6"
    assert gpus[0]["memory_mib"] == 24576
    assert "no-nvidia-gpu" not in found
    driver_part = probe["driver"]
    assert isinstance(driver_part, dict)
    assert driver_part["libcuda"] == "535.129.03"


def test_a_driver_without_gpus(driver: Path, tmp_path: Path) -> None:
    found, _ = _doctor(driver, tmp_path, STUB_GPUS="0", STUB_CUINIT="100")
    assert found["no-nvidia-gpu"] == "warning"


def test_mig_with_an_index(driver: Path, tmp_path: Path) -> None:
    found, probe = _doctor(driver, tmp_path, STUB_GPUS="1", STUB_MIG="1", CUDA_VISIBLE_DEVICES="0")
    assert found["mig-device-selection"] == "error"
    gpus = probe["gpus"]
    assert isinstance(gpus, list)
    assert gpus[0]["mig"] == "on"


def test_an_old_driver(driver: Path, tmp_path: Path) -> None:
    old = tmp_path / "old"
    old.mkdir()
    for name in ("libcuda.so", "libnvidia-ml.so"):
        real = old / f"{name}.470.161.03"
        shutil.copy(driver / f"{name}.535.129.03", real)
        (old / f"{name}.1").symlink_to(real.name)
    found, _ = _doctor(old, tmp_path, STUB_GPUS="1", STUB_DRIVER="470.161.03")
    assert found["driver-too-old-for-cuda"] == "error"


@pytest.mark.parametrize(
    ("result", "code"),
    [
        ("999", "driver-module-or-permission"),
        ("803", "driver-kernel-library-mismatch"),
        ("804", "driver-too-old-for-cuda"),
    ],
)
def test_an_error_of_cuinit(driver: Path, tmp_path: Path, result: str, code: str) -> None:
    found, _ = _doctor(driver, tmp_path, STUB_GPUS="1", STUB_CUINIT=result)
    assert found[code] == "error"


def test_nvml_alone_may_fail(driver: Path, tmp_path: Path) -> None:
    _, probe = _doctor(driver, tmp_path, STUB_GPUS="2", STUB_NVML="9")
    gpus = probe["gpus"]
    assert isinstance(gpus, list)
    assert len(gpus) == 2, "libcuda is asked where NVML does not answer"


def test_hidden_gpus(driver: Path, tmp_path: Path) -> None:
    found, _ = _doctor(driver, tmp_path, STUB_GPUS="2", CUDA_VISIBLE_DEVICES="-1")
    assert found["cuda-visible-devices-hides-all"] == "error"


def test_cuda_libraries_are_found_by_soname(driver: Path, tmp_path: Path) -> None:
    for name in ("libcudart.so.12.2.140", "libcudnn.so.8.9.4", "libcublas.so.12.2.5.6"):
        (tmp_path / name).write_bytes(b"")
    for link, name in (
        ("libcudart.so.12", "libcudart.so.12.2.140"),
        ("libcudnn.so.8", "libcudnn.so.8.9.4"),
        ("libcublas.so.12", "libcublas.so.12.2.5.6"),
    ):
        (tmp_path / link).symlink_to(name)
    found, probe = _doctor(driver, tmp_path, STUB_GPUS="1", LD_LIBRARY_PATH=f"{driver}:{tmp_path}")
    libs = probe["cuda_libs"]
    assert isinstance(libs, list)
    by_name = {lib["soname"]: lib["version"] for lib in libs}
    assert by_name["libcudart.so.12"] == "12.2.140"
    assert by_name["libcublas.so.12"] == "12.2.5.6"
    cudnn = probe["cudnn"]
    assert isinstance(cudnn, dict)
    assert cudnn["version"] == "8.9.4"
    assert "cudnn-missing" not in found


def test_a_saved_probe_names_nobody(tmp_path: Path) -> None:
    home = tmp_path / "home" / "jane.doe" / "venv"
    home.mkdir(parents=True)
    _, probe = _doctor(None, tmp_path, LD_LIBRARY_PATH=f"/home/jane.doe/venv/lib:{home}")
    text = json.dumps(probe)
    assert "jane.doe" not in text
    assert "/home/user/venv/lib" in text


def test_a_saved_probe_is_diagnosed_like_the_machine(driver: Path, tmp_path: Path) -> None:
    found, _ = _doctor(driver, tmp_path, STUB_GPUS="1", STUB_CUINIT="999")
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "tfenv",
            "doctor",
            "2.15.1-cuda",
            "--json",
            "--probe",
            str(tmp_path / "probe.json"),
        ],
        capture_output=True,
        check=False,
    )
    assert {f["code"]: f["severity"] for f in json.loads(done.stdout)["findings"]} == found
