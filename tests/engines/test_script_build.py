"""The bash script for a machine without an engine, from its first line to the packed product.

It builds minitf in TensorFlow's place: the lock is that of 1.15.5, but for the source's hash.
"""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import tarfile
from pathlib import Path

import msgspec
import pytest

from tests.engines import bazel_builds as builds
from tests.engines.channel import served
from tfenv import lock as locks
from tfenv import toolchain
from tfenv.fetch.cache import Cache
from tfenv.files import sha256_bytes
from tfenv.lock.model import Lock
from tfenv.render import mirrors, render
from tfenv.render.plan import make
from tfenv.target import parse
from tfenv.toolchain.model import Choices

pytestmark = [pytest.mark.bazel, pytest.mark.tf, pytest.mark.evidence]

TARGET = "1.15.5-cpu"


def archive() -> bytes:
    """minitf as GitHub packs a tag: one folder at the top."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz", dereference=True) as packed:
        packed.add(builds.MINITF / "1.15.5", "tensorflow-1.15.5")
    return stream.getvalue()


def with_source(locked: Lock, data: bytes, url: str) -> Lock:
    """The lock with another source archive."""
    changed = [
        msgspec.structs.replace(one, urls=[url], sha256=sha256_bytes(data))
        if one.kind == "source"
        else one
        for one in locked.artifact
    ]
    return msgspec.structs.replace(locked, artifact=changed)


def python37() -> str:
    found = shutil.which("python3.7")
    if found and subprocess.run([found, "--version"], check=False).returncode == 0:
        return found
    for path in sorted(Path.home().glob(".pyenv/versions/3.7.*/bin/python")):
        return str(path)
    pytest.skip("there is no Python 3.7 on this machine")


def test_from_nothing_to_a_wheel(tmp_path: Path) -> None:
    builds.need_bazel(TARGET)
    python = python37()
    portable = builds.portable(tmp_path / "portable", TARGET)
    chain = toolchain.choose(parse(TARGET), Choices(bazel_via="binary"))
    locked = locks.make(chain)
    (bazel,) = (one for one in locked.artifact if one.name == "bazel")
    file = Cache().find(bazel.sha256)
    assert file is not None
    places = tmp_path / "places"
    (places / bazel.version).mkdir(parents=True)
    shutil.copyfile(file, places / bazel.version / bazel.urls[0].rpartition("/")[2])
    source = archive()
    (places / "source.tar.gz").write_bytes(source)
    with served(places) as address:
        locked = with_source(locked, source, f"{address}/source.tar.gz")
        plan = make(locked, mirrors.parse(f"bazel={address}"))
        for one in render(plan, ("script",), ("build",)):
            path = tmp_path / one.path
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(one.text, encoding="utf-8")
        done = subprocess.run(
            ["bash", tmp_path / "script" / "build-host.sh", "--work", str(tmp_path / "work")],
            env={
                **os.environ,
                "PYTHON_BIN_PATH": python,
                "TFENV_CACHE": str(portable),
                "TFENV_OFFLINE": "1",
                "TFENV_BAZEL_FLAGS": "",
            },
            cwd=tmp_path,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            check=False,
        )
    try:
        assert done.returncode == 0, done.stdout[-5000:]
        assert [path.suffix for path in (tmp_path / "work" / "out").glob("*.whl")] == [".whl"]
        # Nothing of the user's was used: Bazel was started with this build's rc file alone.
        assert (tmp_path / "work" / "home" / "bin" / "bazel").exists()
    finally:
        stop(tmp_path / "work")


def stop(work: Path) -> None:
    """End the Bazel server that works below the folder."""
    for note in work.glob("build/bazel/*/server/server.pid.txt"):
        pid = int(note.read_text() or 0)
        arguments = Path(f"/proc/{pid}/cmdline")
        if pid and arguments.is_file() and str(work) in arguments.read_text():
            os.kill(pid, 15)
