"""The nix engine builds minitf: `nix run .#build` on a stand-in nixpkgs, with a real Bazel."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.engines import bazel_builds as builds
from tests.engines import nix
from tfenv.fetch.cache import Cache
from tfenv.fetch.item import from_artifacts

pytestmark = [
    pytest.mark.nix,
    pytest.mark.bazel,
    pytest.mark.tf,
    pytest.mark.slow,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Linux targets"),
]
TARGET = "1.15.5-cpu"
# What the driver calls: the real Nix, offline, with a store of the test's own and the stand-in.
WRAPPER = """#!{python}
import os, sys
words = sys.argv[1:]
at = words.index("run") + 1
words[at:at] = ["--no-write-lock-file", "--override-input", "nixpkgs", "path:{stub}"]
own = {environment!r}
os.environ.update(own)
os.execv({program!r}, ["nix", *words])
"""


@pytest.fixture
def path(tmp_path: Path) -> str:
    """A PATH whose `nix` has what the flake asks for: Python and compiler of this machine, Bazel."""
    builds.need_bazel(TARGET)
    engine = nix.engine(tmp_path / "nix")
    lock = builds.lock_of(TARGET)
    stub = nix.stub(tmp_path / "stub", lock.formats["nix"]["nixpkgs"].value)
    (item,) = (one for one in from_artifacts(lock.artifact)[0] if one.name == "bazel")
    engine.seed(Cache().path(item.sha256), f"bazel-{item.version}")
    compilers = tmp_path / "compilers"
    compilers.mkdir()
    for name in ("gcc", "g++", "cpp", "ar", "ld", "nm", "objcopy", "objdump", "strip"):
        if found := shutil.which(name):
            (compilers / name).symlink_to(found)
    python = builds.need_python(lock.toolchain["python"].value) / "bin"
    for name, folder in (("python37", python), ("gcc7", compilers)):
        real(stub, name, folder)
    program = shutil.which("nix")
    assert program is not None
    tools = tmp_path / "tools"
    tools.mkdir()
    own = {k: v for k, v in engine.environment.items() if k not in {"PATH", "TMPDIR", "HOME"}}
    text = WRAPPER.format(python=sys.executable, stub=stub, environment=own, program=program)
    (tools / "nix").write_text(text)
    (tools / "nix").chmod(0o755)
    return f"{tools}{os.pathsep}{os.environ['PATH']}"


def real(stub: Path, attribute: str, folder: Path) -> None:
    """Have an attribute of the stand-in be the programs of a folder."""
    file = stub / "attributes.json"
    attributes: dict[str, dict[str, Any]] = json.loads(file.read_text())
    attributes[attribute]["folder"] = str(folder)
    file.write_text(json.dumps(attributes))


def test_the_engine_nix(tmp_path: Path, path: str) -> None:
    work = tmp_path / "work"
    work.mkdir()
    try:
        code, first, said = builds.build(work, TARGET, "--engine", "nix", PATH=path)
        assert code == 0, (first, said, log(work))
        assert (first["engine"], first["unchanged"]) == ("nix", False)
        assert Path(first["files"][0]).stat().st_size > 100_000_000
        python = work / ".tfenv" / "work" / f"{TARGET}-nix" / "tfenv-python"
        assert (python / "lib" / "python3.7" / "site-packages" / "numpy").is_dir()
        code, second, said = builds.build(work, TARGET, "--engine", "nix", PATH=path)
        assert (code, second["unchanged"]) == (0, True)
        # A lost product comes back: the Python packages are there, and nothing is compiled.
        Path(first["files"][0]).unlink()
        code, third, said = builds.build(work, TARGET, "--engine", "nix", PATH=path)
        assert (code, third["products"]) == (0, first["products"]), log(work)
        assert "compile: unchanged" in said
    finally:
        builds.stop_bazel(work)


def log(folder: Path) -> str:
    """The end of the newest log."""
    logs = sorted(folder.glob(".tfenv/runs/*/*/log.txt"))
    return logs[-1].read_text()[-3000:] if logs else ""
