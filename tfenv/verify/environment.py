"""The environment of one verification: made by uv from the lock, kept by the lock's hash.

The suite's own packages lie in a second folder, which is only added behind the subject's: the
suite can never change a version of what it verifies.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import filelock
import msgspec

from tfenv.errors import EnvironmentFailedError, MissingToolError
from tfenv.files import sha256_file, write_text
from tfenv.verify import index as package_index
from tfenv.verify.interpreter import Interpreter, python_in
from tfenv.verify.subject import Subject

_COMPLETE = "complete"
# Raised whenever an environment is made in another way, so that old ones are not taken.
_RECIPE = 1


class Environment(msgspec.Struct, frozen=True):
    """A Python with the subject, and a folder with the suite's packages."""

    python: Path
    site: Path
    key: str
    made: bool  # False: it was in the cache


def cache_folder() -> Path:
    """Where tfenv keeps things: TFENV_CACHE, else the user's cache folder."""
    if chosen := os.environ.get("TFENV_CACHE"):
        return Path(chosen)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", str(Path.home()))) / "tfenv" / "cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "tfenv"
    return Path(os.environ.get("XDG_CACHE_HOME", str(Path.home() / ".cache"))) / "tfenv"


def uv_program() -> str:
    """uv's program.

    Raises:
        MissingToolError: the package uv is installed without its program.
    """
    from uv import find_uv_bin

    try:
        return find_uv_bin()
    except FileNotFoundError as error:
        raise MissingToolError(
            "uv is not here", str(error), "pip install --force-reinstall uv"
        ) from error


def make(
    subject: Subject,
    interpreter: Interpreter,
    *,
    index: str = "",
    say: Callable[[str], None] = lambda _: None,
) -> Environment:
    """The environment of a subject, from the cache or new.

    Raises:
        EnvironmentFailedError: uv could not make it, or what it installed is not the lock.
    """
    uv = Uv(uv_program(), index)
    home, new = subject_folder(subject, interpreter, index=index, say=say)
    site_key = _key("suite", subject.suite_lock, interpreter.version)
    with _kept("suites", site_key) as (site, new_site):
        if new_site:
            say("adding the suite's own packages beside it")
            _install_suite(uv, subject, python_in(home), site)
    return Environment(python_in(home), cache_folder() / "suites" / site_key, home.name, new)


def subject_folder(
    subject: Subject,
    interpreter: Interpreter,
    *,
    index: str = "",
    say: Callable[[str], None] = lambda _: None,
) -> tuple[Path, bool]:
    """The subject's virtual environment without the suite, and whether it was made now.

    Raises:
        EnvironmentFailedError: uv could not make it, or what it installed is not the lock.
    """
    key = environment_key(subject, interpreter)
    with _kept("environments", key) as (home, new):
        if new:
            say(f"making the environment of {subject.requirement} (Python {interpreter.version})")
            _install_subject(Uv(uv_program(), index), subject, interpreter, home)
    return cache_folder() / "environments" / key, new


def suite_folder(
    subject: Subject, interpreter: Interpreter, *, index: str = "", say: Callable[[str], None]
) -> Path:
    """Only the suite's packages, for a Python that has its own TensorFlow."""
    key = _key("suite", subject.suite_lock, interpreter.version)
    with _kept("suites", key) as (site, new):
        if new:
            say("adding the suite's own packages beside it")
            _install_suite(Uv(uv_program(), index), subject, interpreter.path, site)
    return cache_folder() / "suites" / key


def environment_key(subject: Subject, interpreter: Interpreter) -> str:
    """The name of an environment in the cache: a hash of all that goes into it."""
    wheel = sha256_file(subject.wheel) if subject.wheel else ""
    where = str(interpreter.path.resolve())
    return _key(subject.lock, subject.build_lock, wheel, interpreter.version, where)


def _key(*parts: str) -> str:
    state = hashlib.sha256(f"{_RECIPE} {sys.platform}".encode())
    for part in parts:
        state.update(b"\0" + part.encode("utf-8"))
    return state.hexdigest()[:32]


@contextlib.contextmanager
def _kept(kind: str, key: str) -> Iterator[tuple[Path, bool]]:
    """A folder of the cache: (folder to fill, True), or (finished folder, False).

    A new folder gets its name only when it is complete; two runs at once wait for each other.
    """
    parent = cache_folder() / kind
    parent.mkdir(parents=True, exist_ok=True)
    final = parent / key
    with filelock.FileLock(parent / f"{key}.lock"):
        if (final / _COMPLETE).exists():
            yield final, False
            return
        shutil.rmtree(final, ignore_errors=True)
        fresh = Path(tempfile.mkdtemp(prefix=f".{key}-", dir=parent))
        try:
            yield fresh, True
            write_text(fresh / _COMPLETE, "")
            fresh.rename(final)
        except BaseException:
            shutil.rmtree(fresh, ignore_errors=True)
            raise


class Uv:
    """uv with one index."""

    def __init__(self, program: str, index: str) -> None:
        self.program = program
        self.variables = package_index.variables(index)

    def run(self, what: str, *arguments: str) -> str:
        """Run uv; its output.

        Raises:
            EnvironmentFailedError: it failed, with its own words as the reason.
        """
        done = self.ask(*arguments)
        if done.returncode:
            lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
            why = " ".join(lines)[-800:] or f"uv ended with status {done.returncode}"
            raise EnvironmentFailedError(f"{what} failed", why, _advice(why))
        return done.stdout

    def ask(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run uv, whatever comes of it."""
        return subprocess.run(
            [self.program, *arguments],
            env=self.variables,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            encoding="utf-8",
            errors="replace",
            check=False,
        )


def _advice(why: str) -> str:
    words = why.lower()
    if "hash mismatch" in words:
        return "a file of the index is not the one that was locked: check the index or its mirror"
    if any(sign in words for sign in ("error sending request", "dns", "timed out", "connect")):
        return "set a reachable package index with --index or TFENV_INDEX, then run it again"
    if "no space left" in words:
        return "free disk space, or set TFENV_CACHE to a larger disk"
    return "the lines above come from uv; `--python` chooses another interpreter"


def _install_subject(uv: Uv, subject: Subject, interpreter: Interpreter, home: Path) -> None:
    uv.run(
        "making a virtual environment",
        *("venv", "--quiet", "--relocatable", "--allow-existing"),
        *("--python", str(interpreter.path), str(home)),
    )
    python = python_in(home)
    with tempfile.TemporaryDirectory() as folder:
        lock = Path(folder) / "lock.txt"
        write_text(lock, _without_subject(subject) if subject.wheel else subject.lock)
        arguments = ["--no-deps", "--require-hashes", "-r", str(lock)]
        if subject.build_lock:
            build = Path(folder) / "build.txt"
            write_text(build, subject.build_lock)
            arguments += ["--build-constraints", str(build)]
        uv.run("installing the locked packages", *_pip_install(python), *arguments)
        if subject.wheel:
            what = f"installing {subject.wheel.name}"
            uv.run(what, *_pip_install(python), "--no-deps", "--no-index", str(subject.wheel))


def _pip_install(python: Path) -> list[str]:
    return ["pip", "install", "--quiet", "--python", str(python)]


def _without_subject(subject: Subject) -> str:
    start = subject.distribution + "=="
    return "".join(
        line for line in subject.lock.splitlines(keepends=True) if not line.startswith(start)
    )


def _install_suite(uv: Uv, subject: Subject, python: Path, site: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        lock = Path(folder) / "suite.txt"
        write_text(lock, subject.suite_lock)
        uv.run(
            "installing the suite's packages",
            *_pip_install(python),
            *("--target", str(site), "--no-deps", "--require-hashes", "-r", str(lock)),
        )


def consistency(python: Path) -> tuple[bool, str]:
    """`uv pip check`: whether the installed packages satisfy each other, and what it says."""
    done = Uv(uv_program(), "").ask("pip", "check", "--python", str(python))
    lines = [line.strip() for line in (done.stdout + done.stderr).splitlines() if line.strip()]
    # The first lines tell which environment and how many packages; a problem is on each other.
    said = [line for line in lines if not line.startswith(("Using Python", "Checked "))]
    return done.returncode == 0, "; ".join(said)[:500]
