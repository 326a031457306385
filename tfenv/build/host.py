"""The host engine: this machine's compiler, the locked Bazel and Python packages."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Sequence
from pathlib import Path

import filelock

from tfenv import files
from tfenv.facts.pinned import parse
from tfenv.fetch import stage, wheels
from tfenv.fetch.cache import Cache
from tfenv.fetch.item import Item, Outcome
from tfenv.render.plan import Plan
from tfenv.verify import interpreter
from tfenv.verify.environment import Uv, uv_program

_COMPLETE = "complete"


def python_packages(plan: Plan) -> list[Item]:
    """The Python packages that TensorFlow is built with."""
    text = plan.build_environment()
    header = parse(plan.requirements, "requirements").header
    pins = parse("".join(f"# {k}: {v}\n" for k, v in header.items()) + text, "build")
    return wheels.items(pins)


def make_python(plan: Plan, outcomes: Sequence[Outcome], cache: Cache, asked: str) -> Path:
    """A virtual environment with the locked packages, from files of the cache only.

    Args:
        plan: the target.
        outcomes: what came of fetching `python_packages`.
        cache: where environments are kept.
        asked: the user's interpreter; empty: one of the locked minor.

    Raises:
        EnvironmentFailedError: no interpreter, or the packages cannot be installed.
    """
    base = interpreter.find([plan.value("python")], asked, uv=uv_program())
    text = plan.build_environment()
    key = hashlib.sha256(f"{text}\0{base.path.resolve()}\0{base.version}".encode()).hexdigest()[:32]
    home = cache.root / "build-environments" / key
    with filelock.FileLock(home.with_name(f"{key}.lock")):
        if not (home / _COMPLETE).is_file():
            shutil.rmtree(home, ignore_errors=True)
            _fill(home, base.path, text, outcomes)
    return interpreter.python_in(home)


def _fill(home: Path, base: Path, requirements: str, outcomes: Sequence[Outcome]) -> None:
    links = home / "files"
    link_files(outcomes, links)
    uv = Uv(uv_program(), "")
    uv.run(
        "making the build's Python",
        *("venv", "--quiet", "--allow-existing", "--python", str(base), str(home)),
    )
    files.write_text(home / "requirements.txt", requirements)
    uv.run(
        "installing what TensorFlow is built with",
        *("pip", "install", "--quiet", "--python", str(interpreter.python_in(home))),
        *("--no-deps", "--require-hashes", "--offline", "--no-index", "--find-links", str(links)),
        *("-r", str(home / "requirements.txt")),
    )
    shutil.rmtree(links)
    files.write_text(home / _COMPLETE, "")


def link_files(outcomes: Sequence[Outcome], folder: Path) -> None:
    """The Python packages' files under their own names, where pip and uv look for them."""
    folder.mkdir(parents=True, exist_ok=True)
    for outcome in outcomes:
        if outcome.path is not None and outcome.item.file:
            place = folder / outcome.item.file
            if not place.is_file():
                shutil.copyfile(outcome.path, place.with_name(f".{place.name}.part"))
                place.with_name(f".{place.name}.part").replace(place)


def kept() -> dict[str, str]:
    """The user's own environment without the variables that would answer for the recipe."""
    return {k: v for k, v in os.environ.items() if not k.startswith(("TF_", "TFENV_", "PYTHON"))}


def variables(python: Path, tools: Path) -> dict[str, str]:
    """The environment of build.sh: the user's own, with the build's tools in front."""
    own = kept()
    path = os.pathsep.join([str(tools), str(python.parent), own.get("PATH", os.defpath)])
    return own | {"PATH": path, "PYTHON_BIN_PATH": str(python), "LANG": "C.UTF-8"}


def fetch_python(plan: Plan, source: stage.Source, cache: Cache) -> list[Outcome]:
    """Have the Python packages in the cache.

    Raises:
        DownloadError: one could not be had.
    """
    return stage.fetch_items(python_packages(plan), source, cache)
