"""Builds of minitf by the command line, and what they need."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tfenv import lock as locks
from tfenv import toolchain
from tfenv.build import npm
from tfenv.errors import EnvironmentFailedError
from tfenv.fetch import folder, stage
from tfenv.fetch.cache import Cache
from tfenv.fetch.item import from_artifacts
from tfenv.lock.model import Lock
from tfenv.target import parse
from tfenv.verify import interpreter

ROOT = Path(__file__).resolve().parents[2]
MINITF = ROOT / "tests" / "data" / "minitf"


def lock_of(target: str) -> Lock:
    return locks.make(toolchain.choose(parse(target)))


def need_bazel(target: str) -> None:
    """Have a Bazel for the target: the locked one in the cache, or a fitting one on PATH."""
    if target.startswith("2.8.4"):
        if not any(shutil.which(name) for name in ("bazel-4", "bazel-real")):
            pytest.skip("needs Bazel 4.2 on PATH (Debian's bazel-bootstrap)")
        return
    (item,) = (one for one in from_artifacts(lock_of(target).artifact)[0] if one.name == "bazel")
    if Cache().find(item.sha256) is None and not npm.fetch(item, Cache()):
        pytest.skip("npm did not give the release binary of Bazel")


def need_python(minor: str) -> Path:
    """The prefix of one of this machine's own Pythons."""
    try:
        return interpreter.find([minor], "", uv="").path.resolve().parents[1]
    except EnvironmentFailedError as error:
        pytest.skip(error.why)


def command(target: str, *more: str, source: Path = MINITF) -> list[str]:
    words = [sys.executable, "-m", "tfenv", "build", target, "--engine", "host", "--json"]
    return [*words, "--source", str(source), *more]


def environment(**more: str) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT), **more}


def build(
    folder: Path,
    target: str,
    *more: str,
    source: Path = MINITF,
    before: Sequence[str] = (),
    **variables: str,
) -> tuple[int, dict[str, Any], str]:
    """Run a build in `folder`: exit status, document, standard error."""
    done = subprocess.run(
        [*before, *command(target, *more, source=source)],
        cwd=folder,
        env=environment(**variables),
        capture_output=True,
        text=True,
        check=False,
    )
    try:
        document = json.loads(done.stdout)
    except ValueError:
        document = {}
    return done.returncode, document, done.stderr


def stop_bazel(folder: Path) -> None:
    """End the Bazel servers that work below `folder`, by the process ids that they noted."""
    for note in folder.glob(".tfenv/work/*/bazel/*/server/server.pid.txt"):
        pid = int(note.read_text() or 0)
        arguments = Path(f"/proc/{pid}/cmdline")
        if pid and arguments.is_file() and str(folder) in arguments.read_text():
            os.kill(pid, 15)
            deadline = time.monotonic() + 20
            while arguments.is_file() and time.monotonic() < deadline:
                time.sleep(0.1)


def portable(folder_: Path, target: str, source: Path = MINITF, without: str = "") -> Path:
    """A folder with what a host build of minitf needs, as `tfenv fetch -o` writes it."""
    lock, cache = lock_of(target), Cache()
    tree = source / target.partition("-")[0]
    starlark = stage.source_tree(lock, cache, tree)
    assert starlark is not None
    found = stage.read_externals(lock, starlark, stage.Source(), cache, tree)
    items = [*stage.external_items(lock, found), *stage.python_items(lock)]
    items += [one for one in from_artifacts(lock.artifact)[0] if one.name == "bazel"]
    # A Bazel on PATH stands for one that this machine cannot download.
    items = [one for one in items if one.name != "bazel" or cache.find(one.sha256)]
    outcomes = stage.fetch_items(items, stage.Source(), cache)
    folder.write(folder_, [o for o in outcomes if o.item.name != without], [target])
    return folder_
