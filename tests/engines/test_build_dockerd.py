"""The docker engine with a real daemon: a real image, a real Bazel in it, and what can go wrong."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.engines import bazel_builds as builds
from tests.engines import docker_daemon
from tests.engines.channel import served
from tfenv import lock as locks
from tfenv import toolchain
from tfenv.build import driver
from tfenv.build.commands import Options, container
from tfenv.facts.pinned import Pinned
from tfenv.facts.pinned import parse as parse_pins
from tfenv.fetch.cache import Cache
from tfenv.fetch.item import from_artifacts
from tfenv.target import parse
from tfenv.toolchain.model import Choices

pytestmark = [
    pytest.mark.docker,
    pytest.mark.bazel,
    pytest.mark.tf,
    pytest.mark.evidence,  # minutes: an image is made
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Linux targets"),
]
TARGET = "1.15.5-cpu"
PYTHON = "3.6"  # its base, Ubuntu 18.04, has this one; the stand-in for that base does too
WHEEL = "tensorflow-1.15.5-cp36-cp36m-manylinux2010_x86_64.whl"
SECONDS = 300


@dataclass(frozen=True)
class Site:
    """What the builds share: a daemon, a base image, a Bazel mirror, a source tree."""

    docker: docker_daemon.Docker
    base: str
    mirror: str
    source: Path

    @property
    def options(self) -> list[str]:
        chosen = ["--engine", "docker", "--python", PYTHON, "--bazel-via", "binary"]
        return [*chosen, "--mirror", self.mirror, "--base-image", self.base]

    def build(self, folder: Path, *more: str) -> tuple[int, dict[str, Any], str]:
        host = self.docker.host
        words = (*self.options, *more)
        return builds.build(folder, TARGET, *words, source=self.source, DOCKER_HOST=host)

    def start(self, folder: Path) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            builds.command(TARGET, *self.options, source=self.source),
            cwd=folder,
            env=builds.environment(DOCKER_HOST=self.docker.host),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def containers(self, folder: Path) -> list[str]:
        """Containers that work for a build in that folder, running or not."""
        name = container(folder / ".tfenv" / "work" / f"{TARGET}-docker")
        listed = self.docker.run("ps", "--all", "--quiet", "--filter", f"name=^{name}$")
        return listed.split()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    builds.need_bazel(TARGET)
    lock = locks.make(toolchain.choose(parse(TARGET), Choices(python=PYTHON)))
    (item,) = (one for one in from_artifacts(lock.artifact)[0] if one.name == "bazel")
    home = tmp_path_factory.mktemp("site")
    place = home / "mirror" / item.version / item.urls[0].rsplit("/", 1)[-1]
    place.parent.mkdir(parents=True)
    shutil.copyfile(Cache().path(item.sha256), place)
    python = builds.need_python(PYTHON)
    with docker_daemon.daemon() as docker, served(home / "mirror", docker.gateway()) as address:
        source = minitf_of_python_36(home / "minitf")
        yield Site(docker, docker.base(python), f"bazel={address}", source)


def released() -> Pinned:
    """The released wheel for this Python, as the lock has it."""
    lock = builds.ROOT / "tfenv/locks/python/tensorflow-1.15.5-cp36-linux_x86_64.txt"
    return next(one for one in parse_pins(lock.read_text(), "lock").pins if one.file == WHEEL)


def minitf_of_python_36(folder: Path) -> Path:
    """minitf with the release's wheel for Python 3.6 in the place of the one for 3.7."""
    shutil.copytree(builds.MINITF / "1.15.5", folder)
    for name in ("WORKSPACE", "tensorflow/workspace.bzl"):
        text = (folder / name).read_text().replace("cp37-cp37m", "cp36-cp36m")
        text = re.sub(r'sha256 = "29831dda[0-9a-f]{56}"', f'sha256 = "{released().sha256}"', text)
        (folder / name).write_text(text)
    return folder


def events(folder: Path) -> list[str]:
    """All events of all runs below a folder, oldest first."""
    files = sorted(folder.glob(f".tfenv/runs/{TARGET}/*/events.jsonl"))
    return [line for file in files for line in file.read_text().splitlines()]


def steps(run: str) -> set[tuple[str, str]]:
    lines = (Path(run) / "events.jsonl").read_text().splitlines()
    found = [json.loads(line) for line in lines]
    return {(one["name"], one["state"]) for one in found if one["event"] == "step"}


def wait_for(condition: Callable[[], object], process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + SECONDS
    while not condition():
        assert process.poll() is None, "the build ended too early"
        assert time.monotonic() < deadline, "the build does not come so far"
        time.sleep(0.05)


def in_the_middle(site: Site, folder: Path) -> Callable[[], object]:
    """Whether the build's Bazel is at work in its container."""

    def there() -> bool:
        log = "".join(file.read_text() for file in folder.glob(f".tfenv/runs/{TARGET}/*/log.txt"))
        return "step compile begin" in log and bool(site.containers(folder))

    return there


@pytest.fixture(scope="module")
def first(site: Site, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """One whole build, and where."""
    folder = tmp_path_factory.mktemp("whole")
    code, document, said = site.build(folder)
    assert code == 0, document or said
    return folder, document


def test_a_wheel_comes_out_and_again_nothing_is_done(
    site: Site, first: tuple[Path, dict[str, Any]]
) -> None:
    folder, document = first
    (wheel,) = document["files"]
    assert Path(wheel).stat().st_size > 100_000_000
    assert (document["engine"], document["unchanged"]) == ("docker", False)
    assert ("collect", "end") in steps(document["run"])
    assert any('"exit_name": "SUCCESS"' in line for line in events(folder))
    assert site.containers(folder) == []
    assert Path(wheel).stat().st_uid == os.getuid()
    code, second, said = site.build(folder)
    assert (code, second["unchanged"], second["products"]) == (0, True, document["products"]), said


def test_a_lost_product_comes_back_without_a_new_image(
    site: Site, first: tuple[Path, dict[str, Any]]
) -> None:
    folder, document = first
    Path(document["files"][0]).unlink()
    code, again, said = site.build(folder)
    assert (code, again["products"]) == (0, document["products"]), said
    assert ("compile", "unchanged") in steps(again["run"])
    assert "image" not in {name for name, _ in steps(again["run"])}


@pytest.mark.parametrize("who", ["tfenv alone", "tfenv and docker's client"])
def test_killed_it_leaves_no_second_container_and_goes_on(
    site: Site, first: tuple[Path, dict[str, Any]], tmp_path: Path, who: str
) -> None:
    process = site.start(tmp_path)
    wait_for(in_the_middle(site, tmp_path), process)
    if who != "tfenv alone":
        noted = tmp_path / ".tfenv" / "work" / f"{TARGET}-docker" / "running.json"
        os.killpg(int(json.loads(noted.read_text())["pid"]), signal.SIGKILL)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    left = site.containers(tmp_path)
    assert len(left) == 1  # nobody is there to end it: the next build does
    code, document, said = site.build(tmp_path)
    assert code == 0, document or said
    assert document["products"] == first[1]["products"]
    assert site.containers(tmp_path) == []


def test_ctrl_c_ends_the_container(
    site: Site, first: tuple[Path, dict[str, Any]], tmp_path: Path
) -> None:
    process = site.start(tmp_path)
    wait_for(in_the_middle(site, tmp_path), process)
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 130
    assert site.containers(tmp_path) == []
    # What was downloaded and made is enough: no network is asked for.
    code, document, said = site.build(tmp_path, "--offline")
    assert code == 0, document or said
    assert document["products"] == first[1]["products"]
    assert ("unpack", "unchanged") in steps(document["run"])


def test_a_base_image_that_is_not_there_is_a_failed_download(site: Site, tmp_path: Path) -> None:
    more = ("--base-image", "127.0.0.1:9/nothing:1")
    code, document, _ = site.build(tmp_path, *more)
    assert code == 4, document
    assert "base image" in document["error"]["what"]
    assert "127.0.0.1:9" in document["error"]["why"]


def test_files_belong_to_the_user(
    site: Site,
    first: tuple[Path, dict[str, Any]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A user whom the image does not know: the container runs as him, and so do its files."""
    if os.getuid() != 0:
        pytest.skip("the test above ran as a user already")
    cache = Cache(tmp_path / "cache")
    wheel = Cache().path(released().sha256)
    place = cache.path(released().sha256)
    place.parent.mkdir(parents=True)
    shutil.copyfile(wheel, place)
    for path in (tmp_path, *tmp_path.rglob("*")):
        path.chmod(0o777)
    monkeypatch.setenv("DOCKER_HOST", site.docker.host)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(os, "getuid", lambda: 1000)
    monkeypatch.setattr(os, "getgid", lambda: 1000)
    before = os.umask(0)
    try:
        choices = {"python": PYTHON, "bazel-via": "binary"}
        result = driver.build(
            driver.Request(
                target=parse(TARGET),
                lock=locks.make(
                    toolchain.choose(parse(TARGET), Choices(python=PYTHON, bazel_via="binary"))
                ),
                tree=site.source,
                options=Options(mirror=site.mirror, base_image=site.base, choices=choices),
            ),
            driver.Hooks(),
            cache,
        )
    finally:
        os.umask(before)
    made = tmp_path / ".tfenv" / "work" / f"{TARGET}-docker" / "out"
    assert {path.stat().st_uid for path in made.iterdir()} == {1000}
    assert msgspec.to_builtins(result.record.products) == first[1]["products"]
