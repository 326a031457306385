"""Released wheels are right, and broken ones are not: by the command that people run."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.wheels import exam, subjects
from tfenv import target as targets
from tfenv.cli import main
from tfenv.verify.environment import Environment

pytestmark = pytest.mark.tf

# The four that the first version of verify had to catch; `python -m tests.wheels.exam` has all.
FIRST = ("auto-clustering-off", "missing-library", "wrong-matmul", "wrong-version")


def tfenv(*arguments: str) -> int:
    """The exit code of a command."""
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert isinstance(ended.value.code, int)
    return ended.value.code


@pytest.mark.slow
@pytest.mark.parametrize("name", ["1.15.5-cpu", "2.6.5-cpu", "2.21.0-cpu"])
def test_a_released_wheel_is_right(
    name: str,
    healthy: Callable[[str], Environment],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    healthy(name)
    code = tfenv("verify", name, "--report", str(tmp_path), "--json")
    report = json.loads(capsys.readouterr().out)
    assert code == 0, [c for c in report["checks"] if c["status"] == "failed"]
    assert report == json.loads((tmp_path / "report.json").read_text("utf-8"))
    assert report["summary"]["passed"] >= 20
    assert report["summary"]["failed"] == 0
    ids = {check["id"] for check in report["checks"] if check["status"] == "passed"}
    assert {"device.import", "device.consistent", "session.pruning", "xla.jit_scope"} <= ids
    assert any("device.gpu" in line for line in report["not_exercised"])
    assert (tmp_path / "junit.xml").exists()


@pytest.mark.slow
@pytest.mark.parametrize("name", FIRST)
def test_a_broken_one_is_not(
    name: str,
    healthy: Callable[[str], Environment],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    broken, target = subjects.read(name), targets.parse("2.6.5-cpu")
    home = healthy(target.name).python.parent.parent
    python = subjects.make(broken, home, tmp_path / "copy", target.version)
    code = tfenv(
        *("verify", target.name),
        *("--engine", "host", "--python", str(python)),
        *("--suite", ",".join(broken.suites), "--report", str(tmp_path / "report")),
    )
    assert code == 1
    report = json.loads((tmp_path / "report" / "report.json").read_text("utf-8"))
    failed = {check["id"] for check in report["checks"] if check["status"] == "failed"}
    assert failed & set(broken.caught_by)
    assert next(iter(failed)) in capsys.readouterr().out


@pytest.mark.slow
def test_a_healthy_copy_passes(healthy: Callable[[str], Environment], tmp_path: Path) -> None:
    """Copying is not what makes a broken subject fail."""
    nothing = subjects.Broken(breaks="nothing", caught_by=[], suites=["device"], name="none")
    target = targets.parse("2.6.5-cpu")
    home = healthy(target.name).python.parent.parent
    python = subjects.make(nothing, home, tmp_path / "copy", target.version)
    assert exam.verify(target, python, ["device"]).right


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("nvidia-smi") is not None, reason="this machine may have CUDA")
def test_a_wheel_that_links_cuda_directly_is_no_crash(
    healthy: Callable[[str], Environment], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    healthy("1.13.2-cuda")
    code = tfenv("verify", "1.13.2-cuda", "--suite", "device", "--report", str(tmp_path))
    assert code == 7
    assert "libcublas.so.10.0" in capsys.readouterr().err
