"""The engines that a build can run in, and how to tell whether one is there."""

from __future__ import annotations

import shutil
import subprocess
import sys
from typing import Literal

from tfenv.errors import MissingToolError, NotHereError
from tfenv.target import Target

EngineName = Literal["docker", "nix", "conda", "host"]
ENGINES: tuple[EngineName, ...] = ("docker", "nix", "conda", "host")

# Programs that take conda's command line.
CONDAS = ("conda", "mamba")

_ASK_SECONDS = 20.0

_HOW_TO_GET: dict[EngineName, str] = {
    "docker": "install and start Docker (https://docs.docker.com/engine/install/), "
    "or use --engine nix, conda or host",
    "nix": "install Nix (https://nixos.org/download/), or use --engine docker, conda or host",
    "conda": "install conda or mamba (https://conda-forge.org/download/), "
    "or use --engine docker, nix or host",
    "host": "install bash, or use --engine docker",
}


def require(engine: EngineName, target: Target) -> None:
    """Make sure that `engine` can build `target` here.

    Raises:
        NotHereError: the target is for another operating system.
        MissingToolError: the engine's program is absent, or its daemon does not answer.
    """
    _require_system(target)
    if engine == "docker":
        _require_docker()
    elif engine == "nix":
        _require_program(engine, ("nix",))
    elif engine == "conda":
        _require_program(engine, CONDAS)
    else:
        _require_program(engine, ("bash",))


def _require_system(target: Target) -> None:
    system = {"linux": "linux", "darwin": "macos", "win32": "windows"}.get(sys.platform, "")
    if not target.platform.startswith(system or "?"):
        raise NotHereError(
            f"{target.name} cannot be built here",
            f"it is a {target.platform} target and this machine runs {system or sys.platform}",
            "run the same command on a machine with that operating system, "
            "or see what would run with --dry-run",
        )


def _require_docker() -> None:
    program = shutil.which("docker")
    if program is None:
        raise _missing("docker", "there is no program 'docker' on PATH")
    try:
        answer = subprocess.run(
            [program, "version", "--format", "{{.Server.Version}}"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_ASK_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise _missing("docker", f"no answer from its daemon in {_ASK_SECONDS:.0f} s") from None
    except OSError as error:
        raise _missing("docker", str(error)) from error
    if answer.returncode != 0:
        raise _missing("docker", answer.stderr.strip() or "its daemon does not answer")


def _require_program(engine: EngineName, names: tuple[str, ...]) -> str:
    for name in names:
        if found := shutil.which(name):
            return found
    raise _missing(engine, f"none of {', '.join(names)} is on PATH")


def _missing(engine: EngineName, why: str) -> MissingToolError:
    return MissingToolError(
        f"the engine '{engine}' is not ready on this machine", why, _HOW_TO_GET[engine]
    )
