"""Build a target twice in surroundings that differ, and compare what came out.

What is varied is what reprotest varies, as far as the engine lets it through: the folder, the
time zone and language, the umask, the host's name, the number of processors; the clock moves by
itself. A container keeps most of that out, so the host is the engine unless another one is asked
for. What was varied, and what was not, is said.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from tfenv.errors import BuildError

_MAIN = "import sys; from tfenv.cli import main; main(sys.argv[1:])"
_PATHS = frozenset({"--source", "--from", "--disk-cache"})  # options of `tfenv build`
_ENGINE = "host"
_HOST_NAME = "another-host"
_NEVER = ("user", "kernel")


class Surroundings(NamedTuple):
    """Where and how one of the builds runs."""

    folder: str
    variables: dict[str, str]
    umask: int
    processors: int  # 0: all
    host: str  # empty: as it is


# The last time zone is a day ahead of the first for ten hours of every day.
FIRST = Surroundings("a", {"TZ": "UTC", "LC_ALL": "C", "LANG": "C"}, 0o022, 0, "")
SECOND = Surroundings(
    "another-folder-for-the-second-build",
    {"TZ": "Pacific/Kiritimati", "LC_ALL": "C.UTF-8", "LANG": "C.UTF-8"},
    0o002,
    1,
    _HOST_NAME,
)


def default_command() -> list[str]:
    """tfenv itself, in this interpreter."""
    return [sys.executable, "-c", _MAIN, "build"]


def twice(
    target: str,
    arguments: Sequence[str],
    folder: Path,
    say: Callable[[str], None],
    command: Sequence[str] = (),
) -> tuple[Path, Path]:
    """Build `target` in two surroundings below `folder`; the two products.

    Args:
        target: its name.
        arguments: options of `tfenv build`; those that name files are made absolute.
        folder: is emptied first.
        say: told what happens.
        command: what builds, for tests; default: tfenv.

    Raises:
        BuildError: a build failed, or made no wheel.
    """
    engine = engine_of(arguments)
    # In front of the options: one of them that names the engine comes later, and holds.
    chosen = ["--engine", engine]
    call = [*(command or default_command()), target, *chosen, *absolute(arguments)]
    changing = varied(engine)
    fixed = [name for name in (*_KINDS, *_NEVER) if name not in changing]
    say(f"engine: {engine}; varied: {', '.join(changing)}; not varied: {', '.join(fixed)}")
    shutil.rmtree(folder, ignore_errors=True)
    first, second = (_build(call, target, folder, place, say) for place in (FIRST, SECOND))
    return first, second


_KINDS = ("folder", "time", "time zone", "language", "umask", "processors", "host name")


def engine_of(arguments: Sequence[str]) -> str:
    """The engine that `--engine` among the options names; else the host, which varies most."""
    for index, text in enumerate(arguments):
        name, equals, value = text.partition("=")
        if name == "--engine":
            return value if equals else next(iter(arguments[index + 1 :]), _ENGINE)
    return _ENGINE


def varied(engine: str = _ENGINE) -> list[str]:
    """What differs between the two builds here, in words.

    A container has its own folder, variables, umask and processors, and a new host name each time.
    """
    if engine == "docker":
        return ["time", "host name"]
    lacking = {"processors"} if not _limit(1) else set()
    lacking |= {"host name"} if not _renamed(_HOST_NAME) else set()
    return [name for name in _KINDS if name not in lacking]


def absolute(arguments: Sequence[str]) -> list[str]:
    """Options of `tfenv build` with the paths among their values as seen from here."""
    found: list[str] = []
    before = ""
    for argument in arguments:
        name, equals, value = argument.partition("=")
        if before in _PATHS:
            found.append(str(Path(argument).absolute()))
        elif equals and name in _PATHS:
            found.append(f"{name}={Path(value).absolute()}")
        else:
            found.append(argument)
        before = argument
    return found


def _limit(processors: int) -> list[str]:
    """A prefix that confines a command to so many processors; empty where that is not possible."""
    program = shutil.which("taskset")
    if not processors or program is None or (os.cpu_count() or 1) <= processors:
        return []
    return [program, "--cpu-list", f"0-{processors - 1}"]


def _renamed(host: str) -> list[str]:
    """A prefix that gives a command another host name; empty where that is not permitted."""
    program = shutil.which("unshare")
    if not host or program is None:
        return []
    prefix = [program, "--uts", "sh", "-c", 'hostname "$0" && exec "$@"', host]
    done = subprocess.run([*prefix, "true"], capture_output=True, check=False)
    return [] if done.returncode else prefix


def _build(
    call: list[str], target: str, folder: Path, place: Surroundings, say: Callable[[str], None]
) -> Path:
    home = folder / place.folder
    home.mkdir(parents=True)
    say(f"building {target} in {home}")
    done = subprocess.run(
        [*_renamed(place.host), *_limit(place.processors), *call],
        cwd=home,
        env={**os.environ, **place.variables},
        stdout=subprocess.DEVNULL,
        check=False,
        umask=place.umask if os.name == "posix" else -1,
    )
    if done.returncode:
        raise BuildError(
            f"building {target} failed with exit code {done.returncode}",
            f"it ran in {home}, and said why above",
            f"mend what it says, then `tfenv build {target}` alone",
        )
    made = sorted((home / ".tfenv" / "dist" / target).glob("*.whl"))
    if len(made) != 1:
        raise BuildError(
            f"building {target} left {len(made)} wheels", f"looked in {home}", "audit wheel targets"
        )
    return made[0]
