"""The generated Dockerfiles, built for real by buildah on a base image made here."""

from __future__ import annotations

import contextlib
import json
import re
import shutil
import subprocess
import tarfile
from collections.abc import Iterator
from pathlib import Path

import filelock
import pytest

from tests.engines import images
from tests.engines.channel import served
from tfenv import lock, toolchain
from tfenv.files import sha256_file
from tfenv.render import mirrors, render
from tfenv.render.plan import make
from tfenv.resources import suite
from tfenv.target import parse
from tfenv.toolchain.model import Choices

pytestmark = [pytest.mark.docker, pytest.mark.slow]

ROOT = Path(__file__).resolve().parents[2]
BAZEL = "6c50e142a0a405d3d8598050d6c1b3920c8cdb82a7ffca6fc067cb474275148f"  # facts: npm's 0.26.1


@pytest.fixture(scope="module")
def buildah() -> images.Buildah:
    return images.engine()


def context(target: str, folder: Path, *, mirror: str = "", **choices: str) -> Path:
    """The generated folder of the format docker."""
    chain = toolchain.choose(parse(target), Choices(**choices))
    plan = make(lock.make(chain), mirrors.parse(mirror))
    for file in render(plan, ("docker",), ("build", "run")):
        path = folder / file.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(file.text, encoding="utf-8")
    return folder / "docker"


@pytest.fixture(scope="module")
def bazel() -> Path:
    """Bazel's release binary 0.26.1, byte for byte, as the npm registry has it."""
    folder = images.cache() / "bazel-0.26.1"
    file = folder / "bazel"
    folder.mkdir(parents=True, exist_ok=True)
    with filelock.FileLock(folder / "lock"):
        if not file.exists():
            if shutil.which("npm") is None:
                pytest.skip("npm is not installed, and no Bazel 0.26.1 is in the cache")
            name = "@bazel/bazel-linux_x64@0.26.1"
            subprocess.run(["npm", "pack", "--silent", name], cwd=folder, check=True, timeout=300)
            (archive,) = folder.glob("*.tgz")
            with tarfile.open(archive) as packed:
                member = next(m for m in packed if m.isfile() and m.size > 10_000_000)
                stream = packed.extractfile(member)
                assert stream is not None
                with file.open("wb") as out:
                    shutil.copyfileobj(stream, out)
            archive.unlink()
    assert sha256_file(file) == BAZEL
    return file


@pytest.fixture
def mirror(tmp_path: Path, bazel: Path) -> Iterator[str]:
    """A Bazel mirror on loopback, in the layout <version>/<file>."""
    place = tmp_path / "mirror" / "0.26.1" / "bazel-0.26.1-linux-x86_64"
    place.parent.mkdir(parents=True)
    shutil.copyfile(bazel, place)
    with served(tmp_path / "mirror") as address:
        yield address


def test_bazel_comes_from_a_mirror_and_runs(
    buildah: images.Buildah, tmp_path: Path, mirror: str
) -> None:
    folder = context("1.15.5-cpu", tmp_path, mirror=f"bazel={mirror}", bazel_via="binary")
    buildah.build(folder, "-t", "tfenv-test-bazel", target="bazel")
    command = "HOME=/tmp /opt/bazel/bin/bazel --batch version"
    says = buildah.inside("tfenv-test-bazel", ["sh", "-c", command]).stdout
    assert "Build label: 0.26.1" in says, says


def test_two_builds_are_the_same_image(
    buildah: images.Buildah, tmp_path: Path, mirror: str
) -> None:
    """Same files, a fixed time, no layer taken from a cache: the same image id."""
    folder = context("1.15.5-cpu", tmp_path, mirror=f"bazel={mirror}", bazel_via="binary")
    ids = []
    for name in ("tfenv-test-first", "tfenv-test-second"):
        options = ("--layers=false", "--no-cache", "--timestamp", "1600000000", "-t", name)
        ids.append(buildah.build(folder, *options, target="bazel").stdout.split()[-1])
    assert ids[0] == ids[1]


@contextlib.contextmanager
def wrong_bazel(folder: Path) -> Iterator[tuple[Path, str]]:
    """The context of a build whose mirror has something else by Bazel's name, and its address."""
    place = folder / "mirror" / "0.26.1" / "bazel-0.26.1-linux-x86_64"
    place.parent.mkdir(parents=True)
    place.write_bytes(b"#!/bin/sh\necho something else\n")
    with served(folder / "mirror") as address:
        mirrored = context("1.15.5-cpu", folder, mirror=f"bazel={address}", bazel_via="binary")
        yield mirrored, address


def test_download_that_is_not_the_locked_one_stops_the_build(
    buildah: images.Buildah, tmp_path: Path
) -> None:
    with wrong_bazel(tmp_path) as (folder, address):
        done = buildah.build(folder, target="bazel", check=False)
    assert done.returncode != 0
    assert f"{address}/0.26.1/bazel-0.26.1-linux-x86_64 is not the file that was locked" in (
        done.stdout
    )
    assert f"with sha256 {BAZEL}; the build stops here" in done.stdout


@pytest.mark.evidence
def test_toolchain_of_2_15_1(buildah: images.Buildah, tmp_path: Path) -> None:
    """The distribution's Python and clang, and the build's Python packages by hash."""
    folder = context("2.15.1-cpu", tmp_path, base="debian:12")
    assert "FROM ${BASE_IMAGE} AS base" in (folder / "Dockerfile").read_text("utf-8")
    buildah.build(folder, "-t", "tfenv-test-toolchain", target="toolchain")
    script = (
        'set -e; "$CC" --version; "$PYTHON_BIN_PATH" --version; '
        '"$PYTHON_BIN_PATH" -c "import numpy; print(numpy.__version__)"'
    )
    says = buildah.inside("tfenv-test-toolchain", ["bash", "-c", script]).stdout
    assert "clang version 16." in says
    assert "Python 3.11." in says
    assert "1.26" in says


@pytest.mark.parametrize("there", ["", "useradd --create-home --uid 1000 ubuntu"])
def test_user_is_made_where_another_has_its_number(
    buildah: images.Buildah, tmp_path: Path, there: str
) -> None:
    """As in Ubuntu's own image since 23.04."""
    text = (context("2.15.1-cpu", tmp_path) / "Dockerfile.run").read_text("utf-8")
    (make,) = re.findall(r"^RUN (if getent(?:.*\\\n)+.*)$", text, re.MULTILINE)
    says = buildah.inside(images.BASE, ["sh", "-ec", f"{there}\n{make}\nid -u tfenv; ls /home"])
    assert says.stdout.split()[-2:] == ["1000", "tfenv"], says.stdout


@pytest.mark.tf
@pytest.mark.evidence
def test_two_finished_images_are_the_same(buildah: images.Buildah, tmp_path: Path) -> None:
    """The whole of it: apt, pip, byte code, user; at least a minute apart and from nothing."""
    folder = context("2.15.1-cpu", tmp_path, base="debian:12")
    ids = []
    for name in ("tfenv-test-run-first", "tfenv-test-run-second"):
        options = ("--layers=false", "--no-cache", "--timestamp", "1600000000", "-t", name)
        done = buildah.build(folder, "-f", str(folder / "Dockerfile.run"), *options)
        ids.append(done.stdout.split()[-1])
    assert ids[0] == ids[1], difference(buildah)


def difference(buildah: images.Buildah) -> str:
    """The files in which the two finished images differ."""
    listing = "find / -xdev -type f -not -path '/proc/*' -exec sha256sum {} + | sort -k2"
    one, two = (
        set(buildah.inside(name, ["sh", "-c", listing]).stdout.splitlines())
        for name in ("tfenv-test-run-first", "tfenv-test-run-second")
    )
    return "\n".join(sorted({line.split(None, 1)[-1] for line in one ^ two})[:50])


@pytest.mark.tf
@pytest.mark.evidence
def test_runtime_of_2_15_1_runs_the_suite(buildah: images.Buildah, tmp_path: Path) -> None:
    """The released wheel in the runtime image: no tfenv, no compiler, not root; the suite passes."""
    folder = context("2.15.1-cpu", tmp_path, base="debian:12")
    buildah.build(folder, "-f", str(folder / "Dockerfile.run"), "-t", "tfenv-test-runtime")
    script = "id -u; command -v gcc clang tfenv curl || echo none of them"
    assert buildah.inside("tfenv-test-runtime", ["sh", "-c", script]).stdout.split("\n")[:2] == [
        "1000",
        "none of them",
    ]

    container = buildah.run("from", "--pull-never", "tfenv-test-runtime").stdout.split()[-1]
    try:
        done = buildah.run(
            *("run", "--isolation", "chroot", "-v", f"{suite()}:/suite:ro", container, "--"),
            *("tfenv-verify", "-n", "2"),
            check=False,
        )
    finally:
        buildah.run("rm", container)
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    results = [line for line in lines if "status" in line]
    failed = [line for line in results if line["status"] == "failed"]
    assert failed == [], done.stdout[-4000:]
    assert sum(line["status"] == "passed" for line in results) >= 10
    assert done.returncode == 0


def test_without_the_suite_it_says_so(buildah: images.Buildah, tmp_path: Path) -> None:
    folder = context("2.15.1-cpu", tmp_path, base="debian:12")
    script = folder / "verify.sh"
    done = subprocess.run(
        ["sh", script],
        env={"TFENV_SUITE": str(tmp_path / "none"), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 6
    assert done.stderr.splitlines()[0] == "error: the verification suite is not there"
