"""`tfenv fetch`, `build` and `export-ci` as a person meets them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tfenv.cli import main


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(list(arguments))
    assert isinstance(ended.value.code, int)
    return ended.value.code


@pytest.fixture(autouse=True)
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty folder, an empty cache, no programs but those that every system has."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TFENV_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def no_docker(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))


def test_a_build_without_docker(no_docker: None, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("build", "2.6.5-cuda") == 6
    said = capsys.readouterr()
    lines = said.err.splitlines()
    assert [line.split(":")[0].strip() for line in lines] == ["error", "why", "fix"]
    assert "docker" in lines[0]
    assert "https://" in lines[2]
    assert said.out == ""


def test_a_build_without_docker_for_programs(
    no_docker: None, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("build", "2.6.5-cuda", "--json") == 6
    error = json.loads(capsys.readouterr().out)["error"]
    assert (error["kind"], error["exit_code"]) == ("missing-tool", 6)


def test_a_target_of_another_system(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("build", "2.10.1-cuda-windows", "--engine", "host") == 6
    assert "windows" in capsys.readouterr().err


def test_a_rehearsal_needs_no_engine(
    no_docker: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("build", "2.6.5-cuda", "--dry-run") == 0
    assert capsys.readouterr().out.startswith("#!/usr/bin/env bash\n")
    assert list(tmp_path.iterdir()) == []


def test_a_source_that_is_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    if shutil.which("bash") is None:
        pytest.skip("the host engine needs bash")
    assert run("build", "2.6.5-cpu", "--engine", "host", "--source", str(tmp_path)) == 2
    assert "source tree" in capsys.readouterr().err


def test_fetch_offline_names_what_is_missing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("fetch", "2.6.5-cpu", "--offline") == 4
    said = capsys.readouterr().err
    assert "tensorflow 2.6.5" in said
    assert "bazel 3.7.2" in said
    assert run("fetch", "2.6.5-cpu", "--offline", "--from", str(tmp_path / "absent")) == 2


def test_fetch_knows_its_mirrors(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("fetch", "2.6.5-cpu", "--mirror", "nowhere") == 2
    assert "tsinghua" in capsys.readouterr().err


def test_fetch_refuses_an_unknown_target(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("fetch", "2.6.66-cpu") == 2
    assert "2.6.5-cpu" in capsys.readouterr().err


def test_ci_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("export-ci", "2.6.5-cuda", "1.15.5-cpu", "--format", "github") == 0
    assert "2.6.5-cuda" in capsys.readouterr().out
    out = tmp_path / "ci.yml"
    assert run("export-ci", "2.6.5-cuda", "--format", "gitlab", "-o", str(out), "--json") == 0
    document = json.loads(capsys.readouterr().out)
    assert document["text"] == out.read_text()
    assert [job["target"] for job in document["jobs"]] == ["2.6.5-cuda"]
    assert run("export-ci", "2.6.5-cuda", "--format", "jenkins") == 2
