"""Whether an engine is there, asked of faked programs."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tfenv.build import engines
from tfenv.errors import MissingToolError, NotHereError
from tfenv.target import Target

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="the faked programs are shell scripts for Linux"
)
TARGET = Target("2.6.5", "cuda")


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty PATH."""
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


def put(folder: Path, name: str, body: str) -> None:
    program = folder / name
    program.write_text(f"#!/bin/sh\n{body}\n")
    program.chmod(0o755)


def test_no_docker_program(programs: Path) -> None:
    with pytest.raises(MissingToolError, match="docker") as caught:
        engines.require("docker", TARGET)
    assert caught.value.exit_code == 6
    assert "PATH" in caught.value.why
    assert "--engine" in caught.value.fix


def test_docker_without_a_daemon(programs: Path) -> None:
    put(programs, "docker", "echo 'Cannot connect to the Docker daemon' >&2; exit 1")
    with pytest.raises(MissingToolError) as caught:
        engines.require("docker", TARGET)
    assert "Cannot connect" in caught.value.why


def test_docker_with_a_daemon(programs: Path) -> None:
    put(programs, "docker", "echo 20.10.24")
    engines.require("docker", TARGET)


@pytest.mark.parametrize("engine", ["nix", "conda", "host"])
def test_other_engines_need_their_program(programs: Path, engine: engines.EngineName) -> None:
    with pytest.raises(MissingToolError, match=engine):
        engines.require(engine, TARGET)
    put(programs, "bash" if engine == "host" else engine, "exit 0")
    engines.require(engine, TARGET)


@pytest.mark.parametrize("platform", ["macos-x86_64", "windows-x86_64"])
def test_a_target_for_another_system(platform: str) -> None:
    target = Target("2.6.0", "cpu", platform)  # type: ignore[arg-type]
    with pytest.raises(NotHereError) as caught:
        engines.require("host", target)
    assert caught.value.exit_code == 6
