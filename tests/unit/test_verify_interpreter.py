"""Finding a Python, on a machine made of faked programs."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tfenv.errors import EnvironmentFailedError, UsageError
from tfenv.verify import interpreter

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="the faked programs are shell scripts for Linux"
)


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No Python anywhere: empty PATH, empty pyenv, empty home."""
    for name in ("path", "pyenv/versions", "pyenv/shims", "home"):
        (tmp_path / name).mkdir(parents=True)
    monkeypatch.setenv("PATH", f"{tmp_path / 'pyenv/shims'}:{tmp_path / 'path'}")
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "pyenv"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("CONDA_PREFIX", raising=False)
    return tmp_path


def fake(path: Path, version: str, **fields: object) -> Path:
    """A program that answers the probe as a Python would."""
    answer = {
        "version": version,
        "final": True,
        "implementation": "CPython",
        "bits": 64,
        "machine": "x86_64",
        "base": "/usr",
        **fields,
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\necho '{json.dumps(answer)}'\n", encoding="utf-8")
    path.chmod(0o755)
    return path


def test_the_preferred_one_first(machine: Path) -> None:
    fake(machine / "path" / "python3", "3.8.10")
    wanted = fake(machine / "pyenv/versions/3.7.16/bin/python", "3.7.16")
    found = interpreter.find(["3.7", "3.8"])
    assert (found.path, found.minor, found.place) == (wanted, "3.7", "pyenv")


def test_another_supported_one_where_the_preferred_is_missing(machine: Path) -> None:
    there = fake(machine / "path" / "python3", "3.8.10")
    assert interpreter.find(["3.7", "3.8"]).path == there


def test_a_pyenv_shim_is_passed_over(machine: Path) -> None:
    fake(machine / "pyenv/shims/python3.7", "3.7.16")
    with pytest.raises(EnvironmentFailedError):
        interpreter.find(["3.7"])


def test_the_newest_patch_of_pyenv(machine: Path) -> None:
    for patch in ("9", "16", "2"):
        fake(machine / f"pyenv/versions/3.7.{patch}/bin/python", f"3.7.{patch}")
    assert interpreter.find(["3.7"]).version == "3.7.16"


def test_conda_by_its_list(machine: Path) -> None:
    there = fake(machine / "conda/envs/old/bin/python", "3.7.12")
    listed = machine / "home/.conda/environments.txt"
    listed.parent.mkdir()
    listed.write_text(f"{machine / 'gone'}\n{machine / 'conda/envs/old'}\n", encoding="utf-8")
    found = interpreter.find(["3.7"])
    assert (found.path, found.place) == (there, "conda")


@pytest.mark.parametrize(
    "fields",
    [{"bits": 32}, {"implementation": "PyPy"}, {"final": False}],
    ids=["32-bit", "pypy", "pre-release"],
)
def test_what_cannot_run_a_wheel_is_passed_over(machine: Path, fields: dict[str, object]) -> None:
    fake(machine / "path" / "python3.7", "3.7.16", **fields)
    with pytest.raises(EnvironmentFailedError):
        interpreter.find(["3.7"])


@pytest.mark.parametrize("body", ["exit 1", "echo hello", "echo '{}'", "echo '[1'"])
def test_a_program_that_talks_nonsense(machine: Path, body: str) -> None:
    program = machine / "path" / "python3.7"
    program.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
    program.chmod(0o755)
    with pytest.raises(EnvironmentFailedError):
        interpreter.find(["3.7"])


def test_uv_brings_one_from_38_on(machine: Path) -> None:
    brought = fake(machine / "uv-python", "3.8.20")
    uv = machine / "uv"
    # `find` fails until `install` was called.
    uv.write_text(
        f'#!/bin/sh\ncase "$2" in install) : > {machine}/installed ;;\n'
        f"find) test -e {machine}/installed && echo {brought} ;; esac\n",
        encoding="utf-8",
    )
    uv.chmod(0o755)
    found = interpreter.find(["3.7", "3.8"], uv=str(uv))
    assert (found.path, found.place) == (brought, "uv")


def test_none_says_how_to_get_one(machine: Path) -> None:
    with pytest.raises(EnvironmentFailedError) as caught:
        interpreter.find(["3.7"])
    assert caught.value.exit_code == 7
    assert "pyenv install 3.7" in caught.value.fix


def test_the_asked_one(machine: Path) -> None:
    asked = fake(machine / "elsewhere/python", "3.8.10")
    assert interpreter.find(["3.7", "3.8"], str(asked)).path == asked


def test_a_minor_is_asked_for(machine: Path) -> None:
    fake(machine / "path" / "python3.7", "3.7.16")
    asked = fake(machine / "path" / "python3.8", "3.8.10")
    assert interpreter.find(["3.7", "3.8"], "3.8").path == asked


def test_the_asked_one_is_not_supported(machine: Path) -> None:
    asked = fake(machine / "elsewhere/python", "3.12.1")
    with pytest.raises(UsageError, match=r"3\.12\.1") as caught:
        interpreter.find(["3.7", "3.8"], str(asked))
    assert "--python 3.7" in caught.value.fix


def test_the_asked_one_is_no_python(machine: Path) -> None:
    with pytest.raises(UsageError, match="no Python"):
        interpreter.find(["3.7"], "/nowhere/python")
