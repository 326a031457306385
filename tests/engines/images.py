"""Images for real, without a daemon and without a registry: buildah on a base made here.

The base is Debian 12 from debootstrap, kept in tfenv's cache. It carries the host's certificates,
so that a Dockerfile under test needs no change for the network that it is tested in.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import filelock
import pytest

BASE = "localhost/tfenv-test:debian-12"
# Part of the base's name: a change here makes a new one.
EDITION = "3"
HOST_CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt"
# Not there: installing the package ca-certificates would write its own in their place.
CERTIFICATES = "/usr/local/share/test-certificates.pem"
ENV = ("PIP_CERT", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")


@dataclass(frozen=True)
class Buildah:
    """buildah with a storage of its own."""

    storage: Path

    def command(self, *arguments: str | Path) -> list[str]:
        """The command line, storage options included."""
        return [
            "buildah",
            *("--root", str(self.storage / "root"), "--runroot", str(self.storage / "run")),
            *("--storage-driver", "overlay"),
            *map(str, arguments),
        ]

    def run(
        self, *arguments: str | Path, timeout: float = 900, check: bool = True
    ) -> subprocess.CompletedProcess[str]:
        """Run it; its whole output is in the error where it fails."""
        done = subprocess.run(
            self.command(*arguments),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            text=True,
            errors="replace",
            timeout=timeout,
            check=False,
        )
        assert not check or done.returncode == 0, done.stdout[-6000:]
        return done

    def build(
        self,
        context: Path,
        *options: str,
        args: Mapping[str, str] | None = None,
        target: str = "",
        check: bool = True,
    ) -> subprocess.CompletedProcess[str]:
        """Build a folder's Dockerfile on the local base, with the host's network."""
        given = {"BASE_IMAGE": BASE, **(args or {})}
        return self.run(
            *("bud", "--isolation", "chroot", "--network", "host", "--layers", "--pull-never"),
            *(part for name, value in given.items() for part in ("--build-arg", f"{name}={value}")),
            *(("--target", target) if target else ()),
            *options,
            context,
            check=check,
        )

    def inside(self, image: str, command: Sequence[str]) -> subprocess.CompletedProcess[str]:
        """Run a command in a throw-away container of an image, without a network of its own."""
        container = self.run("from", "--pull-never", image).stdout.strip().splitlines()[-1]
        try:
            return self.run(
                *("run", "--isolation", "chroot", "--network", "host", container, "--", *command),
                check=False,
            )
        finally:
            self.run("rm", container)


def cache() -> Path:
    """Where bases are kept between runs."""
    given = os.environ.get("TFENV_CACHE")
    home = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
    return (Path(given) if given else home / "tfenv") / "test-images"


def engine() -> Buildah:
    """buildah with the base in its storage; skips where it cannot be had."""
    for problem in unmet("buildah", "debootstrap"):
        pytest.skip(problem)
    folder = cache()
    folder.mkdir(parents=True, exist_ok=True)
    made = Buildah(folder / f"storage-{EDITION}")
    with filelock.FileLock(folder / "lock"):
        if made.run("inspect", "--type", "image", BASE, check=False).returncode != 0:
            make_base(made)
    return made


def rootfs() -> Path:
    """Debian 12 in a folder of the cache, with the host's certificates; made once."""
    for problem in unmet("debootstrap"):
        pytest.skip(problem)
    root = cache() / f"rootfs-{EDITION}"
    root.parent.mkdir(parents=True, exist_ok=True)
    with filelock.FileLock(root.with_name("rootfs-lock")):
        if not (root / "complete").exists():
            shutil.rmtree(root, ignore_errors=True)
            subprocess.run(
                ["debootstrap", "--variant=minbase", "bookworm", str(root)],
                env={**os.environ, "PATH": f"{os.environ['PATH']}:/usr/sbin:/sbin"},
                stdout=subprocess.DEVNULL,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                check=True,
            )
            certificates = root / CERTIFICATES[1:]
            certificates.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(HOST_CERTIFICATES, certificates)
            (root / "complete").touch()
    return root


def unmet(*programs: str) -> list[str]:
    """What is missing to make images here."""
    where = f"{os.environ['PATH']}:/usr/sbin:/sbin"
    found = [f"{name} is not installed" for name in programs if not shutil.which(name, path=where)]
    if os.geteuid() != 0:
        found.append("debootstrap and buildah's chroot isolation need root")
    return found


def make_base(buildah: Buildah) -> None:
    """The rootfs as an image."""
    container = buildah.run("from", "scratch").stdout.strip()
    buildah.run("add", container, rootfs(), "/")
    settings = [part for name in ENV for part in ("--env", f"{name}={CERTIFICATES}")]
    buildah.run("config", *settings, "--cmd", "/bin/bash", container)
    buildah.run("commit", "--rm", container, BASE)
