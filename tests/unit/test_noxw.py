"""The wrapper, run as a person runs it: with a bare Python and a network that we make."""

from __future__ import annotations

import http.server
import os
import shutil
import subprocess
import sys
import threading
import venv
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path

import pytest

from tests.conftest import installed

if installed():
    pytest.skip("the wrapper is no part of the wheel", allow_module_level=True)

posix = pytest.mark.skipif(os.name == "nt", reason="the stand-in Pythons are shell scripts")

NOX = """\
import json, os, sys
if __name__ == "__main__":
    print(json.dumps({"arguments": sys.argv[1:], "python": sys.prefix}))
    sys.exit(int(os.environ.get("NOX_EXIT", "0")))
"""


@dataclass(frozen=True)
class Checkout:
    """A folder with a wrapper, a nox of our own making, and the server that has it."""

    folder: Path
    index: str

    def run(
        self, *arguments: str, python: str = "", **env: str
    ) -> subprocess.CompletedProcess[str]:
        """Start the wrapper; pip knows the loopback index alone."""
        return subprocess.run(
            [python or bare_python(), str(self.folder / "noxw"), *arguments],
            env={**environment(), "PIP_INDEX_URL": self.index, **env},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    def made(self) -> list[Path]:
        return sorted((self.folder / ".noxw").glob("*/complete"))


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Keep the test's output to the test."""


@pytest.fixture
def checkout_of_ours(tmp_path: Path, root: Path) -> Iterator[Checkout]:
    index = tmp_path / "index"
    digest = write_nox_wheel(index / "nox")
    folder = tmp_path / "a checkout"
    (folder / "requirements").mkdir(parents=True)
    shutil.copy2(root / "noxw", folder / "noxw")
    requirements = folder / "requirements" / "nox.txt"
    requirements.write_text(f"nox==9999.1 --hash=sha256:{digest}\n", encoding="utf-8")
    with http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), partial(Quiet, directory=str(index))
    ) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield Checkout(folder, f"http://127.0.0.1:{server.server_port}/")
        finally:
            server.shutdown()
            thread.join()


def write_nox_wheel(folder: Path) -> str:
    """A wheel named nox that prints its arguments; returns its sha256."""
    folder.mkdir(parents=True)
    path = folder / "nox-9999.1-py3-none-any.whl"
    info = "nox-9999.1.dist-info"
    with zipfile.ZipFile(path, "w") as wheel:
        wheel.writestr("nox.py", NOX)
        wheel.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: nox\nVersion: 9999.1\n")
        wheel.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        wheel.writestr(f"{info}/RECORD", "")
    return sha256(path.read_bytes()).hexdigest()


def environment() -> dict[str, str]:
    """Ours, without what configures pip."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("PIP_")}
    return {**env, "PIP_CONFIG_FILE": os.devnull}


def bare_python() -> str:
    """The interpreter under our environment: what a user's `python3` is."""
    return str(Path(sys._base_executable))  # type: ignore[attr-defined]


def test_hands_arguments_and_exit_code_over(checkout_of_ours: Checkout) -> None:
    first = checkout_of_ours.run("-s", "verify-2.6.5-cpu", "--", "a b", NOX_EXIT="3")
    assert first.returncode == 3, first.stderr
    noxfile = checkout_of_ours.folder / "noxfile.py"
    assert f'"-f", "{noxfile}", "-s", "verify-2.6.5-cpu", "--", "a b"' in first.stdout
    assert len(checkout_of_ours.made()) == 1
    assert str(checkout_of_ours.made()[0].parent) in first.stdout
    assert "once" in first.stderr

    second = checkout_of_ours.run("-l", PIP_INDEX_URL="http://127.0.0.1:9/")
    assert second.returncode == 0, second.stderr
    assert second.stderr == ""


@pytest.mark.slow
def test_new_requirements_make_a_new_environment(checkout_of_ours: Checkout) -> None:
    assert checkout_of_ours.run().returncode == 0
    requirements = checkout_of_ours.folder / "requirements" / "nox.txt"
    requirements.write_text(requirements.read_text("utf-8") + "# changed\n", encoding="utf-8")
    assert checkout_of_ours.run().returncode == 0
    assert len(checkout_of_ours.made()) == 2


@pytest.mark.slow
def test_cut_short_is_made_again(checkout_of_ours: Checkout) -> None:
    assert checkout_of_ours.run().returncode == 0
    (marker,) = checkout_of_ours.made()
    marker.unlink()
    shutil.rmtree(next(marker.parent.glob("**/site-packages")))
    again = checkout_of_ours.run()
    assert again.returncode == 0, again.stderr
    assert checkout_of_ours.made() == [marker]


@pytest.mark.slow
def test_two_at_once_make_one_environment(checkout_of_ours: Checkout) -> None:
    with ThreadPoolExecutor(2) as pool:
        runs = list(pool.map(lambda _: checkout_of_ours.run(), range(2)))
    assert [run.returncode for run in runs] == [0, 0], runs
    assert sum("once" in run.stderr for run in runs) == 1


def test_wrong_hash_is_refused(checkout_of_ours: Checkout) -> None:
    requirements = checkout_of_ours.folder / "requirements" / "nox.txt"
    requirements.write_text(f"nox==9999.1 --hash=sha256:{'0' * 64}\n", encoding="utf-8")
    run = checkout_of_ours.run()
    assert run.returncode == 4
    assert "THESE PACKAGES DO NOT MATCH THE HASHES" in run.stderr
    assert run.stderr.splitlines()[-3:] == [
        "error: nox could not be installed",
        "  why: pip failed; its reason stands above",
        "  fix: check network, proxy or mirror (pip's own settings and PIP_INDEX_URL apply)",
    ]
    assert checkout_of_ours.made() == []


@pytest.mark.slow
def test_settings_for_other_installs_do_no_harm(checkout_of_ours: Checkout, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    run = checkout_of_ours.run(PIP_USER="1", PIP_TARGET=str(elsewhere))
    assert run.returncode == 0, run.stderr
    assert not elsewhere.exists()


@posix
def test_externally_managed_python(checkout_of_ours: Checkout, tmp_path: Path) -> None:
    """pip of this Python refuses to install, as Debian's and Fedora's do (PEP 668)."""
    python = stand_in(
        tmp_path,
        "import sys, sysconfig; real = sysconfig.get_path\n"
        "if sys.prefix == sys.base_prefix:\n"
        "    sysconfig.get_path = lambda n, *a, **k: HERE if n == 'stdlib' else real(n, *a, **k)",
    )
    (tmp_path / "hook" / "EXTERNALLY-MANAGED").write_text("[externally-managed]\n", "utf-8")
    command = [python, "-m", "pip", "install", "nox"]
    env = {**environment(), "PIP_INDEX_URL": checkout_of_ours.index}
    refused = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert "externally-managed-environment" in refused.stderr

    run = checkout_of_ours.run(python=python)
    assert run.returncode == 0, run.stderr


@posix
def test_python_without_ensurepip(checkout_of_ours: Checkout, tmp_path: Path) -> None:
    """Debian without python3-venv: venv is there, ensurepip is not."""
    python = stand_in(
        tmp_path,
        "import importlib.util as u; f = u.find_spec\n"
        "u.find_spec = lambda n, *a: None if n == 'ensurepip' else f(n, *a)",
    )
    run = checkout_of_ours.run(python=python)
    assert run.returncode == 6
    what, why, fix = run.stderr.splitlines()
    assert what == "error: a virtual environment for nox cannot be made"
    assert "no ensurepip" in why
    assert "python3-venv" in fix
    assert checkout_of_ours.made() == []


@posix
def test_venv_that_breaks(checkout_of_ours: Checkout) -> None:
    (checkout_of_ours.folder / ".noxw").mkdir()
    python = stand_in(
        checkout_of_ours.folder,
        "import venv\ndef broken(*a, **k): raise OSError(28, 'No space left on device')\n"
        "venv.create = broken",
    )
    run = checkout_of_ours.run(python=python)
    assert run.returncode == 7
    assert "No space left on device" in run.stderr.splitlines()[-2]


def stand_in(tmp_path: Path, code: str) -> str:
    """A Python like ours that runs `code` at its start."""
    hook = tmp_path / "hook"
    hook.mkdir(exist_ok=True)
    (hook / "sitecustomize.py").write_text(f"HERE = {str(hook)!r}\n{code}\n", encoding="utf-8")
    python = tmp_path / "python3"
    python.write_text(
        f'#!/bin/sh\nPYTHONPATH="{hook}" exec "{bare_python()}" "$@"\n', encoding="utf-8"
    )
    python.chmod(0o755)
    return str(python)


@pytest.mark.slow
def test_runs_from_a_virtual_environment(checkout_of_ours: Checkout, tmp_path: Path) -> None:
    """Started with the Python of an environment, it still makes one of its own."""
    venv.create(tmp_path / "other", with_pip=False, symlinks=os.name != "nt")
    folder, name = ("Scripts", "python.exe") if os.name == "nt" else ("bin", "python")
    run = checkout_of_ours.run(python=str(tmp_path / "other" / folder / name))
    assert run.returncode == 0, run.stderr
    assert str(checkout_of_ours.made()[0].parent) in run.stdout


OLD = [
    path
    for minor in ("3.6", "3.7", "3.8", "3.9")
    for path in sorted(Path.home().glob(f".pyenv/versions/{minor}.*/bin/python"))
]


@pytest.mark.skipif(not OLD, reason="no Python older than 3.10 under ~/.pyenv/versions")
def test_old_python_gets_the_message(root: Path) -> None:
    for python in OLD:
        run = subprocess.run(
            [python, root / "noxw"], capture_output=True, text=True, check=False, timeout=60
        )
        assert run.returncode == 6
        what, why, fix = run.stderr.splitlines()
        assert what == "error: noxw needs Python 3.10 or newer"
        assert "this is Python 3." in why
        assert fix.startswith("  fix: start it with a newer one")
