"""CI files: what the linters of each system say, where they are installed."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tfenv.build import ci
from tfenv.errors import ConflictError
from tfenv.target import parse

TARGETS = [parse(name) for name in ("2.6.5-cuda", "1.15.5-cpu", "2.21.0-cpu")]
OTHERS = [parse(name) for name in ("2.6.0-cpu-macos", "2.10.1-cuda-windows", "2.6.5-cpu-cc")]


def test_one_job_per_target() -> None:
    found = ci.jobs([*TARGETS, TARGETS[0], parse("2.6.0-cpu-macos")], "docker")
    assert [job.target for job in found] == [
        "2.6.5-cuda",
        "1.15.5-cpu",
        "2.21.0-cpu",
        "2.6.0-cpu-macos",
    ]
    assert [job.engine for job in found] == ["docker", "docker", "docker", "host"]
    assert found[0].runner.startswith("ubuntu")
    assert found[3].runner.startswith("macos")
    assert found[1].python == "3.7"


def program_of(name: str) -> str | None:
    """A program of this environment, else one on PATH."""
    return shutil.which(name, path=str(Path(sys.executable).parent)) or shutil.which(name)


@pytest.mark.parametrize("form", ci.FORMATS)
def test_every_target_is_in_the_file(form: ci.CiFormat) -> None:
    text = ci.render(TARGETS, form, "docker")
    assert all(target.name in text for target in TARGETS)
    assert "tfenv verify" in text
    assert "tfenv verify" not in ci.render(TARGETS, form, "docker", verify=False)


def test_what_is_no_wheel_is_not_verified() -> None:
    """Of other systems wheels are, which a name's end does not show."""
    found = {job.target: job.verify for job in ci.jobs([*TARGETS, *OTHERS], "docker")}
    assert [name for name, verify in found.items() if not verify] == ["2.6.5-cpu-cc"]
    cc = parse("2.6.5-cpu-cc")
    assert "tfenv verify" not in ci.render([cc], "slurm", "host")


def test_gitlab_brings_docker_and_speaks_to_powershell() -> None:
    text = ci.render([*TARGETS, *OTHERS], "gitlab", "docker")
    assert "docker:28-dind" in text
    assert "$env:TARGET" in text
    plain = ci.render(TARGETS, "gitlab", "host")
    assert "dind" not in plain
    assert "$env:" not in plain


def test_slurm_is_for_linux() -> None:
    with pytest.raises(ConflictError, match="macos"):
        ci.render([parse("2.6.0-cpu-macos")], "slurm", "host")


def test_github_by_actionlint(tmp_path: Path) -> None:
    program = program_of("actionlint")
    if program is None:
        pytest.skip("actionlint is not installed")
    path = tmp_path / ".github" / "workflows" / "tfenv.yml"
    path.parent.mkdir(parents=True)
    path.write_text(ci.render([*TARGETS, *OTHERS], "github", "docker"))
    done = subprocess.run([program, path], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("form", "schema"), [("github", "vendor.github-workflows"), ("gitlab", "vendor.gitlab-ci")]
)
def test_by_schema(tmp_path: Path, form: ci.CiFormat, schema: str) -> None:
    program = program_of("check-jsonschema")
    if program is None:
        pytest.skip("check-jsonschema is not installed")
    path = tmp_path / "ci.yml"
    path.write_text(ci.render([*TARGETS, *OTHERS], form, "docker"))
    done = subprocess.run(
        [program, "--builtin-schema", schema, path], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout


def test_slurm_by_shellcheck(tmp_path: Path) -> None:
    if shutil.which("shellcheck") is None:
        pytest.skip("shellcheck is not installed")
    path = tmp_path / "tfenv.sbatch"
    path.write_text(ci.render(TARGETS, "slurm", "host"))
    done = subprocess.run(["shellcheck", path], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
