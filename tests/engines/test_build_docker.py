"""The docker engine's commands, run for real by a stand-in for docker."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.engines import bazel_builds as builds
from tfenv.build.bazel import Bazel, install
from tfenv.fetch.cache import Cache
from tfenv.fetch.item import from_artifacts

pytestmark = [
    pytest.mark.bazel,
    pytest.mark.tf,
    pytest.mark.slow,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Linux targets"),
]
TARGET = "1.15.5-cpu"


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """A folder with `docker` (the stand-in) and the Bazel that the image would have."""
    probe = "mkdir -p u w r && mount -t tmpfs tmpfs . && true"
    if subprocess.run(
        ["unshare", "--mount", "sh", "-c", probe], cwd=tmp_path, capture_output=True, check=False
    ).returncode:
        pytest.skip("no mount namespace can be made here (unshare --mount)")
    builds.need_bazel(TARGET)
    locked = from_artifacts(builds.lock_of(TARGET).artifact)[0]
    (item,) = (one for one in locked if one.name == "bazel")
    folder = tmp_path / "tools"
    install(Bazel(Cache().path(item.sha256), item.version), folder)
    docker = folder / "docker"
    standin = Path(__file__).with_name("docker_standin.py")
    docker.write_text(f'#!/bin/sh\nexec {sys.executable} {standin} "$@"\n')
    docker.chmod(0o755)
    return folder


def test_the_engine_docker(tmp_path: Path, tools: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    code, document, said = builds.build(
        work,
        TARGET,
        "--engine",
        "docker",
        PATH=f"{tools}{os.pathsep}{os.environ['PATH']}",
        STANDIN_PATH=os.environ["PATH"],
        STANDIN_TOOLS=str(tools),
        STANDIN_TMP=str(tmp_path),
    )
    builds.stop_bazel(work)
    assert code == 0, said
    assert document["engine"] == "docker"
    (wheel,) = document["files"]
    assert Path(wheel).stat().st_size > 100_000_000
    events = (Path(document["run"]) / "events.jsonl").read_text()
    assert '"name": "collect", "state": "end"' in events
