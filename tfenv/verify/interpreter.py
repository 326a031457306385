"""Find a Python that a release supports, wherever this machine keeps one.

The places, in this order: the one that was asked for, PATH, pyenv (its real binaries: uv refuses
the shims), conda, the Windows launcher, then a Python that uv brings (3.8 and newer).
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import msgspec

from tfenv.errors import EnvironmentFailedError, UsageError

_ASK_SECONDS = 30
_UV_OLDEST = (3, 8)
_PROBE = (
    "import json, platform, struct, sys; print(json.dumps(dict("
    "version='%d.%d.%d' % sys.version_info[:3], final=sys.version_info[3] == 'final',"
    "implementation=platform.python_implementation(), bits=8 * struct.calcsize('P'),"
    "machine=platform.machine(), base=getattr(sys, 'base_prefix', sys.prefix))))"
)


class Interpreter(msgspec.Struct, frozen=True):
    """A usable Python."""

    path: Path
    version: str  # 3.7.16
    place: str  # where it was found, for people

    @property
    def minor(self) -> str:
        """`3.7` of 3.7.16."""
        return ".".join(self.version.split(".")[:2])


class _Answer(msgspec.Struct, frozen=True):
    version: str
    final: bool
    implementation: str
    bits: int
    machine: str
    base: str


def find(pythons: list[str], asked: str = "", *, uv: str = "") -> Interpreter:
    """The first usable Python of `pythons` (minors, the preferred one first).

    Args:
        pythons: `3.7`, `3.8`, …: what the release supports.
        asked: a path, a program on PATH, or a minor; nothing else is taken then.
        uv: uv's program, for a Python that uv brings; empty: do without.

    Raises:
        UsageError: `asked` is no Python, or not one of `pythons`.
        EnvironmentFailedError: there is none, with how to get one.
    """
    if asked and asked not in pythons:
        return _asked(pythons, asked)
    wanted = [asked] if asked else pythons
    for minor in wanted:
        for place, path in _candidates(minor):
            found = probe(path, place)
            if found is not None and found.minor == minor:
                return found
    for minor in wanted:
        if uv and tuple(map(int, minor.split("."))) >= _UV_OLDEST:
            found = _brought_by_uv(uv, minor)
            if found is not None:
                return found
    raise _none(wanted)


def _asked(pythons: list[str], asked: str) -> Interpreter:
    path = shutil.which(asked) or asked
    found = probe(Path(path), "--python")
    if found is None:
        raise UsageError(
            f"'{asked}' is no Python that can be used",
            "it did not run, or is not a final 64-bit CPython",
            f"give the path of a Python {', '.join(pythons)}, or leave --python out",
        )
    if found.minor not in pythons:
        raise UsageError(
            f"'{asked}' is Python {found.version}",
            f"this release can be verified with Python {', '.join(pythons)} here",
            f"give one of those, or only its number: --python {pythons[0]}",
        )
    return found


def probe(path: Path, place: str) -> Interpreter | None:
    """Ask a program whether it is a Python that can be used; None when it is not."""
    try:
        done = subprocess.run(
            [str(path), "-I", "-c", _PROBE],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_ASK_SECONDS,
            check=False,
        )
        answer = msgspec.json.decode(done.stdout.strip(), type=_Answer)
    except (OSError, subprocess.TimeoutExpired, msgspec.DecodeError, msgspec.ValidationError):
        return None
    usable = answer.final and answer.implementation == "CPython" and answer.bits == 64
    return Interpreter(path, answer.version, place) if usable else None


def _candidates(minor: str) -> Iterator[tuple[str, Path]]:
    yield from (("PATH", path) for path in _on_path(minor))
    yield from (("pyenv", path) for path in _pyenv(minor))
    yield from (("conda", path) for path in _conda())
    yield from (("the Windows launcher", path) for path in _launcher(minor))


def _on_path(minor: str) -> Iterator[Path]:
    shims = _pyenv_root() / "shims"
    for name in (f"python{minor}", "python3", "python"):
        for folder in os.get_exec_path():
            # A shim answers for whatever version is selected, and uv refuses it.
            if not folder or Path(folder) == shims:
                continue
            found = shutil.which(name, path=folder)
            if found:
                yield Path(found)


def _pyenv_root() -> Path:
    default = "~/.pyenv/pyenv-win" if os.name == "nt" else "~/.pyenv"
    return Path(os.environ.get("PYENV_ROOT", default)).expanduser()


def _pyenv(minor: str) -> Iterator[Path]:
    folders = [p for p in (_pyenv_root() / "versions").glob(f"{minor}.*") if p.is_dir()]
    for folder in sorted(folders, key=_patch, reverse=True):
        yield python_in(folder)


def _patch(folder: Path) -> int:
    last = folder.name.split(".")[-1]
    return int(last) if last.isdecimal() else -1


def _conda() -> Iterator[Path]:
    """The active conda environment, then all that conda has written down."""
    folders = [os.environ.get("CONDA_PREFIX", "")]
    listed = Path("~/.conda/environments.txt").expanduser()
    if listed.is_file():
        folders += listed.read_text("utf-8", errors="replace").splitlines()
    for folder in dict.fromkeys(folders):
        if folder and Path(folder).is_dir():
            yield _conda_python(Path(folder))


def _conda_python(folder: Path) -> Path:
    return folder / "python.exe" if os.name == "nt" else folder / "bin" / "python"


def _launcher(minor: str) -> Iterator[Path]:
    py = shutil.which("py")
    if os.name != "nt" or py is None:
        return
    done = subprocess.run(
        [py, f"-{minor}", "-c", "import sys; print(sys.executable)"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=_ASK_SECONDS,
        check=False,
    )
    if done.returncode == 0 and done.stdout.strip():
        yield Path(done.stdout.strip())


def python_in(folder: Path) -> Path:
    """The Python of a virtual environment or of a pyenv version."""
    if os.name != "nt":
        return folder / "bin" / "python"
    inside = folder / "Scripts" / "python.exe"
    return inside if inside.exists() else folder / "python.exe"


def _brought_by_uv(uv: str, minor: str) -> Interpreter | None:
    """A Python that uv manages, downloaded if need be."""
    find_it = ("python", "find", "--managed-python", "--no-python-downloads", minor)
    done = _ask(uv, *find_it)
    if done.returncode:
        _ask(uv, "python", "install", "--quiet", minor)
        done = _ask(uv, *find_it)
    path = done.stdout.strip()
    return probe(Path(path), "uv") if done.returncode == 0 and path else None


def _ask(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )


def _none(pythons: list[str]) -> EnvironmentFailedError:
    wanted = ", ".join(pythons)
    first = pythons[0]
    modern = tuple(map(int, first.split("."))) >= _UV_OLDEST
    how = f"uv python install {first}" if modern else f"pyenv install {first}"
    return EnvironmentFailedError(
        f"no Python {wanted} on this machine",
        "looked on PATH, in pyenv, conda and the Windows launcher, and asked uv",
        f"{how}, or conda create -n py{first.replace('.', '')} python={first}; "
        "then run the same command again, or give its path with --python",
    )
