"""What goes into an environment, and what its key depends on."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec
import pytest

from tfenv.errors import ConflictError, EnvironmentFailedError, UsageError
from tfenv.facts import pinned
from tfenv.target import Target, parse
from tfenv.verify import environment, expect, stage, subject
from tfenv.verify.interpreter import Interpreter
from tfenv.verify.subject import Subject

TARGET = Target("2.6.5", "cpu")
PYTHON = Interpreter(Path("/opt/python3.7/bin/python"), "3.7.16", "PATH")


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TFENV_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def shipped() -> Subject:
    return subject.of(TARGET, "3.7")


def test_the_shipped_subject() -> None:
    item = shipped()
    assert item.distribution == "tensorflow-cpu"
    assert item.versions["numpy"] == "1.19.5"
    assert "setuptools==" in item.build_lock
    assert item.describe().startswith("tensorflow_cpu-2.6.5-cp37")
    assert item.describe().endswith("(released)")


def test_the_preferred_python_comes_first() -> None:
    assert subject.locked_pythons(TARGET)[0] == "3.7"
    assert set(subject.locked_pythons(TARGET)) == {"3.7", "3.8", "3.9"}


def test_a_suite_lock_never_holds_a_package_of_its_subject() -> None:
    """Otherwise the suite could change what it verifies."""
    folder = Path(subject.__file__).parents[1] / "locks"
    files = sorted((folder / "suite").glob("*.txt"))
    assert files
    for path in files:
        lock = (folder / "python" / path.name).read_text("utf-8")
        mine = pinned.parse(path.read_text("utf-8"), path.name)
        theirs = {pin.name for pin in pinned.parse(lock, path.name).pins}
        assert {pin.name for pin in mine.pins} & theirs == set(), path.name
        assert {"pytest"} <= {pin.name for pin in mine.pins} | theirs, path.name


def test_a_target_without_a_lock_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subject, "suite_lock", lambda target, python: "")
    with pytest.raises(ConflictError, match="cannot be verified yet"):
        subject.locked_pythons(TARGET)


def test_the_key_depends_on_all_that_goes_in(tmp_path: Path) -> None:
    item = shipped()
    wheel = tmp_path / "tensorflow_cpu-2.6.5-cp37-cp37m-linux_x86_64.whl"
    wheel.write_bytes(b"one")
    keys = [
        environment.environment_key(item, PYTHON),
        environment.environment_key(item, msgspec.structs.replace(PYTHON, version="3.7.17")),
        environment.environment_key(msgspec.structs.replace(item, lock="x"), PYTHON),
        environment.environment_key(msgspec.structs.replace(item, build_lock="x"), PYTHON),
        environment.environment_key(msgspec.structs.replace(item, wheel=wheel), PYTHON),
    ]
    wheel.write_bytes(b"two")
    keys.append(environment.environment_key(msgspec.structs.replace(item, wheel=wheel), PYTHON))
    assert len(set(keys)) == len(keys)
    assert environment.environment_key(shipped(), PYTHON) == keys[0]


@pytest.mark.parametrize(
    "name",
    [
        "tensorflow-2.6.5.tar.gz",
        "numpy-2.6.5-cp37-cp37m-linux_x86_64.whl",
        "tensorflow_cpu-2.6.4-cp37-cp37m-linux_x86_64.whl",
        "tensorflow.whl",
    ],
)
def test_a_wheel_of_something_else_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"")
    with pytest.raises(UsageError):
        subject.of(TARGET, "3.7", tmp_path / name)


def test_a_wheel_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no file"):
        subject.of(TARGET, "3.7", tmp_path / "tensorflow-2.6.5-cp37-cp37m-linux_x86_64.whl")


def test_a_local_build_of_the_version_is_accepted(tmp_path: Path) -> None:
    wheel = tmp_path / "tensorflow-2.6.5+mine-cp37-cp37m-linux_x86_64.whl"
    wheel.write_bytes(b"")
    item = subject.of(TARGET, "3.7", wheel)
    assert item.describe() == f"{wheel.name} (a file)"


def test_the_suite_does_not_expect_the_name_of_a_local_build(tmp_path: Path) -> None:
    wheel = tmp_path / "tensorflow-2.6.5+mine-cp37-cp37m-linux_x86_64.whl"
    wheel.write_bytes(b"")
    assert expect.expected(shipped(), "auto")["packages"]["tensorflow-cpu"] == "2.6.5"
    own = expect.expected(subject.of(TARGET, "3.7", wheel), "auto")
    assert "tensorflow-cpu" not in own["packages"]
    assert own["packages"]["numpy"] == "1.19.5"
    assert "git_version" not in own


@pytest.mark.parametrize("python", ["3.12", "2.7"])
def test_a_python_that_the_release_lacks_is_a_conflict(python: str, tmp_path: Path) -> None:
    request = stage.Request(target=TARGET, python=python, folder=tmp_path)
    with pytest.raises(ConflictError) as caught:
        stage.verify(request, lambda _: None, lambda _: None)
    assert caught.value.exit_code == 3
    assert "--python 3." in caught.value.fix


def fake_uv(folder: Path, body: str, monkeypatch: pytest.MonkeyPatch) -> None:
    program = folder / "uv"
    program.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setattr(environment, "uv_program", lambda: str(program))


posix = pytest.mark.skipif(os.name != "posix", reason="the faked uv is a shell script")


@posix
def test_a_failed_environment_is_not_kept(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_uv(tmp_path, "echo 'error: Hash mismatch for numpy' >&2; exit 2", monkeypatch)
    with pytest.raises(EnvironmentFailedError) as caught:
        environment.make(shipped(), PYTHON)
    assert caught.value.exit_code == 7
    assert "Hash mismatch for numpy" in caught.value.why
    assert "mirror" in caught.value.fix
    assert [p.name for p in (cache / "environments").iterdir() if p.is_dir()] == []


@posix
def test_an_environment_is_made_once_and_its_lock_is_hashed(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = tmp_path / "calls"
    fake_uv(tmp_path, f'echo "$@" >> {calls}', monkeypatch)
    first = environment.make(shipped(), PYTHON)
    again = environment.make(shipped(), PYTHON)
    assert (first.made, again.made) == (True, False)
    assert first.python == again.python
    venv, install, suite = calls.read_text("utf-8").splitlines()
    assert venv.startswith("venv")
    assert "--require-hashes" in install
    assert "--build-constraints" in install
    assert "--no-deps" in suite
    assert "--target" in suite


def test_targets_of_every_line_can_be_verified() -> None:
    for name in ("1.4.0-cpu", "1.15.5-cpu", "2.6.5-cuda", "2.21.0-cpu"):
        assert subject.locked_pythons(parse(name))
