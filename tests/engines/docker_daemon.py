"""Docker for real: the daemon that answers, or one of our own in a temporary folder."""

from __future__ import annotations

import contextlib
import ipaddress
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.engines import images

_START_SECONDS = 60


@dataclass(frozen=True)
class Docker:
    """A daemon's address."""

    host: str

    @property
    def environment(self) -> dict[str, str]:
        return {**os.environ, "DOCKER_HOST": self.host}

    def run(self, *arguments: str, check: bool = True) -> str:
        """`docker ...`; what it says, both streams."""
        done = subprocess.run(
            ["docker", *arguments],
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=900,
            check=False,
        )
        assert not check or done.returncode == 0, done.stdout[-6000:]
        return done.stdout

    def answers(self) -> bool:
        return bool(
            self.run("version", "--format", "{{.Server.Version}}", check=False)[:1].isdigit()
        )

    def gateway(self) -> str:
        """This machine's address, as containers see it."""
        form = "{{(index .IPAM.Config 0).Subnet}}"
        subnet = self.run("network", "inspect", "bridge", "--format", form).strip()
        return str(next(ipaddress.ip_network(subnet).hosts()))  # the first, unless configured

    def base(self, python: Path) -> str:
        """An image of Debian 12 with one of this machine's Pythons as its `python3`; its name.

        Args:
            python: the Python's prefix; it has the same path in the image.
        """
        name = f"tfenv-test:debian-12-{python.name}"
        if self.has(name):
            return name
        with tempfile.TemporaryDirectory() as scratch:
            shutil.copytree(python, Path(scratch) / "python", symlinks=True)
            parents = " ".join(map(str, python.parents[:-1]))  # for users who are not root
            (Path(scratch) / "Dockerfile").write_text(
                f"FROM {self.debian()}\n"
                f"COPY python {python}\n"
                f"RUN chmod a+x {parents} && ln -s {python}/bin/python3 /usr/local/bin/python3\n"
            )
            self.run("build", "--tag", name, scratch)
        return name

    def debian(self) -> str:
        """The image of Debian 12 that all tests of images start from."""
        if not self.has(images.BASE):
            changes = ["CMD /bin/bash", *(f"ENV {one}={images.CERTIFICATES}" for one in images.ENV)]
            words = [word for one in changes for word in ("--change", one)]
            tar = ["tar", "-c", "-C", str(images.rootfs()), "."]
            with subprocess.Popen(tar, stdout=subprocess.PIPE) as packed:
                subprocess.run(
                    ["docker", "import", *words, "-", images.BASE],
                    env=self.environment,
                    stdin=packed.stdout,
                    stdout=subprocess.DEVNULL,
                    check=True,
                )
            assert packed.returncode == 0
        return images.BASE

    def has(self, image: str) -> bool:
        """Whether an image of that name is there."""
        return bool(self.run("image", "ls", "--quiet", image).strip())


@contextlib.contextmanager
def daemon() -> Iterator[Docker]:
    """The daemon that this machine has, else one that lives as long as the block; or a skip."""
    if shutil.which("docker") is None:
        pytest.skip("there is no program 'docker'")
    there = Docker(os.environ.get("DOCKER_HOST", "unix:///var/run/docker.sock"))
    if there.answers():
        yield there
        return
    program = shutil.which("dockerd", path=f"{os.environ['PATH']}:/usr/sbin:/sbin")
    if program is None or os.geteuid() != 0:
        pytest.skip("no Docker daemon answers, and none can be started here (dockerd, as root)")
    # Unix sockets have short paths only: not below pytest's folders.
    with tempfile.TemporaryDirectory(prefix="dockerd-", ignore_cleanup_errors=True) as name:
        home = Path(name)
        ours = Docker(f"unix://{home / 'socket'}")
        words = [program, "--host", ours.host, "--pidfile", str(home / "pid")]
        words += ["--data-root", str(home / "data"), "--exec-root", str(home / "exec")]
        with (home / "log").open("wb") as log:
            process = subprocess.Popen(words, stdout=log, stderr=subprocess.STDOUT)
        try:
            deadline = time.monotonic() + _START_SECONDS
            while not ours.answers():
                if process.poll() is not None or time.monotonic() > deadline:
                    pytest.skip(f"dockerd does not start: {(home / 'log').read_text()[-800:]}")
                time.sleep(0.2)
            yield ours
        finally:
            process.terminate()
            process.wait(60)
