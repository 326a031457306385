"""The Dockerfiles in Docker itself, with its classic builder and with BuildKit."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.engines import docker_daemon
from tests.engines.test_docker import BAZEL, bazel, context, mirror, wrong_bazel
from tfenv.resources import suite

__all__ = ["bazel", "mirror"]  # fixtures
pytestmark = [pytest.mark.docker, pytest.mark.evidence]  # a daemon, minutes of builds

ROOT = Path(__file__).resolve().parents[2]
DOCKERFILES = sorted((ROOT / "environments").glob("*/docker/Dockerfile*"))


@dataclass(frozen=True)
class Builder:
    """One of the two builders of a daemon."""

    docker: docker_daemon.Docker
    program: str
    kit: bool

    def build(self, folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [self.program, "build", "--network", "host", *options, str(folder)],
            env={
                **self.docker.environment,
                "DOCKER_BUILDKIT": str(int(self.kit)),
                "BUILDKIT_PROGRESS": "plain",
            },
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=1800,
            check=False,
        )

    def on_base(self, folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
        """A build on the local base."""
        base = self.docker.debian()
        return self.build(folder, "--build-arg", f"BASE_IMAGE={base}", *options)


def client(*, kit: bool) -> str | None:
    """A docker client with that builder: newer ones have BuildKit in a plugin of its own only."""
    for folder in os.environ["PATH"].split(os.pathsep):
        program = shutil.which("docker", path=folder)
        if program is None:
            continue
        version = subprocess.run(
            [program, "--version"], capture_output=True, text=True, check=False
        ).stdout
        found = re.search(r"version (\d+)\.", version)
        plugin = subprocess.run([program, "buildx", "version"], capture_output=True, check=False)
        if found and (not kit or int(found[1]) < 23 or plugin.returncode == 0):
            return program
    return None


@pytest.fixture(scope="module")
def daemon() -> Iterator[docker_daemon.Docker]:
    with docker_daemon.daemon() as found:
        yield found


@pytest.fixture(scope="module", params=["classic", "buildkit"])
def builder(request: pytest.FixtureRequest, daemon: docker_daemon.Docker) -> Builder:
    kit = request.param == "buildkit"
    program = client(kit=kit)
    if program is None:
        pytest.skip("this machine's docker has no BuildKit (package docker-buildx)")
    return Builder(daemon, program, kit)


# The last thing that each builder says of a Dockerfile that it could read: the stage is not there.
_NO_STAGE = re.compile(r"failed to reach build target nothing|target stage nothing could not be")


@pytest.mark.parametrize("path", DOCKERFILES, ids=lambda path: f"{path.parts[-3]}-{path.name}")
def test_every_committed_dockerfile_is_read(builder: Builder, path: Path) -> None:
    """Whole, by the engine's own parser; without the base image, which is on a registry."""
    done = builder.build(path.parent, "-f", str(path), "--target", "nothing")
    assert _NO_STAGE.search(done.stdout), done.stdout


def test_a_dockerfile_with_a_mistake_is_not_read(builder: Builder, tmp_path: Path) -> None:
    text = DOCKERFILES[0].read_text("utf-8").replace("\nCOPY ", "\nCOPPY ", 1)
    (tmp_path / "Dockerfile").write_text(text, encoding="utf-8")
    done = builder.build(tmp_path, "--target", "nothing")
    assert not _NO_STAGE.search(done.stdout)
    assert "unknown instruction: COPPY" in done.stdout


def test_bazel_comes_from_a_mirror_and_runs(builder: Builder, tmp_path: Path, mirror: str) -> None:
    folder = context("1.15.5-cpu", tmp_path, mirror=f"bazel={mirror}", bazel_via="binary")
    name = f"tfenv-test-bazel-{int(builder.kit)}"
    done = builder.on_base(folder, "--target", "bazel", "--tag", name)
    assert done.returncode == 0, done.stdout[-3000:]
    command = "HOME=/tmp /opt/bazel/bin/bazel --batch version"
    says = builder.docker.run("run", "--rm", name, "sh", "-c", command)
    assert "Build label: 0.26.1" in says


def test_download_that_is_not_the_locked_one_stops_the_build(
    builder: Builder, tmp_path: Path
) -> None:
    with wrong_bazel(tmp_path) as (folder, _):
        done = builder.on_base(folder, "--target", "bazel")
    assert done.returncode != 0
    assert f"with sha256 {BAZEL}; the build stops here" in done.stdout


@pytest.mark.tf
def test_runtime_of_2_15_1_runs_the_suite(builder: Builder, tmp_path: Path) -> None:
    """The released wheel in Docker's own image and container, as a user who is not root."""
    folder = context("2.15.1-cpu", tmp_path, base="debian:12")
    name = f"tfenv-test-runtime-{int(builder.kit)}"
    done = builder.on_base(folder, "-f", str(folder / "Dockerfile.run"), "--tag", name)
    assert done.returncode == 0, done.stdout[-3000:]
    run = ("run", "--rm", "--network", "none", "-v", f"{suite()}:/suite:ro", name)
    # The whole suite runs in the image that buildah makes of the same file (test_docker).
    areas = ("--suite", "device,native,session")
    says = builder.docker.run(*run, "tfenv-verify", *areas, "-n", "2", check=False)
    assert '"status": "failed"' not in says, says[-4000:]
    assert says.count('"status": "passed"') >= 10, says[-4000:]
    who = builder.docker.run(*run, "sh", "-c", "id -u; command -v gcc curl || echo neither")
    assert who.split() == ["1000", "neither"]
