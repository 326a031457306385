"""Build a target twice in surroundings that differ, and compare what came out.

What is varied is what reprotest varies, as far as a build can be asked to bear it: the folder, the
time zone and language, the umask, the number of processors; the clock moves by itself. Not varied,
and said so: the host's name, the user, the kernel.
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
NOT_VARIED = ("host name", "user", "kernel")


class Surroundings(NamedTuple):
    """Where and how one of the builds runs."""

    folder: str
    variables: dict[str, str]
    umask: int
    processors: int  # 0: all


# The last time zone is a day ahead of the first for ten hours of every day.
FIRST = Surroundings("a", {"TZ": "UTC", "LC_ALL": "C", "LANG": "C"}, 0o022, 0)
SECOND = Surroundings(
    "another-folder-for-the-second-build",
    {"TZ": "Pacific/Kiritimati", "LC_ALL": "C.UTF-8", "LANG": "C.UTF-8"},
    0o002,
    1,
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
    call = [*(command or default_command()), target, *absolute(arguments)]
    say(f"varied: {', '.join(varied())}; not varied: {', '.join(NOT_VARIED)}")
    shutil.rmtree(folder, ignore_errors=True)
    first, second = (_build(call, target, folder, place, say) for place in (FIRST, SECOND))
    return first, second


def varied() -> list[str]:
    """What differs between the two builds here, in words."""
    found = ["folder", "time", "time zone", "language", "umask"]
    return [*found, "processors"] if _limit(1) else found


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


def _build(
    call: list[str], target: str, folder: Path, place: Surroundings, say: Callable[[str], None]
) -> Path:
    home = folder / place.folder
    home.mkdir(parents=True)
    say(f"building {target} in {home}")
    done = subprocess.run(
        [*_limit(place.processors), *call],
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
