"""The devcontainer files, read by the program that editors read them with."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.engines import docker_daemon

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted((ROOT / "environments").glob("*/docker/devcontainer.json"))
PROGRAM = shutil.which("devcontainer")

pytestmark = [
    pytest.mark.docker,
    pytest.mark.optional,
    pytest.mark.skipif(PROGRAM is None, reason="npm's @devcontainers/cli is not installed"),
]
Read = Callable[[Path], "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="module")
def read() -> Iterator[Read]:
    """What the program makes of a workspace. It asks Docker whether a container is there already."""
    with docker_daemon.daemon() as docker:

        def read(workspace: Path) -> subprocess.CompletedProcess[str]:
            assert PROGRAM is not None
            return subprocess.run(
                [PROGRAM, "read-configuration", "--workspace-folder", workspace],
                env=docker.environment,
                capture_output=True,
                text=True,
                timeout=120,
                check=False,
            )

        yield read


@pytest.mark.parametrize("file", FILES, ids=lambda path: str(path.parts[-3]))
def test_every_committed_file_is_read(file: Path, read: Read, tmp_path: Path) -> None:
    """Where the how-to puts it: the folder as `.devcontainer` of a project."""
    shutil.copytree(file.parent, tmp_path / ".devcontainer")
    done = read(tmp_path)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)["configuration"]
    written = json.loads(file.read_text("utf-8"))
    assert {key: found.get(key) for key in written} == written
    dockerfile = tmp_path / ".devcontainer" / found["build"]["dockerfile"]
    assert f" AS {found['build']['target']}\n" in dockerfile.read_text("utf-8")


def test_a_file_that_is_none_is_refused(read: Read, tmp_path: Path) -> None:
    (tmp_path / ".devcontainer").mkdir()
    (tmp_path / ".devcontainer" / "devcontainer.json").write_text("[1]", encoding="utf-8")
    done = read(tmp_path)
    assert done.returncode != 0 or "TFENV_TARGET" not in done.stdout
