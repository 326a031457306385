"""Nix for real, offline: a store of its own in a temporary folder, and a stand-in for nixpkgs."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from tfenv import facts
from tfenv.facts import schema

STUB = Path(__file__).parents[1] / "data" / "nix-stub" / "default.nix"
CONFIG = """\
experimental-features = nix-command flakes
sandbox = false
substituters =
build-users-group =
flake-registry =
warn-dirty = false
download-attempts = 1
"""
PROGRAM = {"cuda": "nvcc", "cudnn": "cudnn", "python": "python3"}


@dataclass(frozen=True)
class Nix:
    """Nix with its own store, home and cache."""

    home: Path

    @property
    def environment(self) -> dict[str, str]:
        return {
            **{name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ},
            "NIX_CONFIG": CONFIG,
            "NIX_STORE_DIR": str(self.home / "store"),
            "NIX_STATE_DIR": str(self.home / "state"),
            "NIX_LOG_DIR": str(self.home / "log"),
            "HOME": str(self.home / "home"),
            "XDG_CACHE_HOME": str(self.home / "cache"),
            # Every download fails at once: what is not in the store cannot be had.
            "http_proxy": "http://127.0.0.1:9",
            "https_proxy": "http://127.0.0.1:9",
            "no_proxy": "127.0.0.1",
        }

    def run(
        self, *arguments: str | Path, cwd: Path | None = None, check: bool = True
    ) -> subprocess.CompletedProcess[str]:
        """`nix ...`, without a network that it could use."""
        return self.program("nix", *arguments, cwd=cwd, check=check)

    def program(
        self, *command: str | Path, cwd: Path | None = None, check: bool = True
    ) -> subprocess.CompletedProcess[str]:
        """Any of Nix's programs; both streams are in the error where it fails."""
        (self.home / "home").mkdir(parents=True, exist_ok=True)
        done = subprocess.run(
            list(map(str, command)),
            cwd=cwd,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert not check or done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
        return done

    def seed(self, path: Path, name: str) -> str:
        """Put a file into the store as the fixed output `name`; returns its store path."""
        named = self.home / "seeds" / name
        named.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, named)
        return self.program("nix-store", "--add-fixed", "sha256", named).stdout.strip()


def engine(home: Path) -> Nix:
    """Nix, or a skip."""
    if shutil.which("nix") is None:
        pytest.skip("nix is not installed")
    return Nix(home)


def stub(folder: Path, release: str, *, without: str = "") -> Path:
    """A nixpkgs that has what the facts say of a release, but for one attribute."""
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(STUB, folder / "default.nix")
    attributes = {}
    for row in facts.rows(schema.NixChoice):
        name = row.attributes[0]
        if row.release == release and name != without:
            attributes[name] = {
                "program": PROGRAM.get(row.component, row.component),
                "version": row.version,
                "unfree": row.component in {"cuda", "cudnn"},
            }
            if row.component == "clang":
                linker = name.replace(".clang", ".lld")
                attributes[linker] = {"program": "ld.lld", "version": row.version, "unfree": False}
    (folder / "attributes.json").write_text(json.dumps(attributes), encoding="utf-8")
    if release >= "23.11":
        (folder / "fhsenv").touch()
    return folder
