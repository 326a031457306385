"""`tfenv audit --twice` on real Bazel: two builds of minitf in varied surroundings."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import filelock
import pytest

from tfenv.fetch.cache import default_root
from tfenv.files import sha256_file

pytestmark = [pytest.mark.bazel, pytest.mark.tf, pytest.mark.slow]

BAZEL = "6c50e142a0a405d3d8598050d6c1b3920c8cdb82a7ffca6fc067cb474275148f"  # facts: npm's 0.26.1
LIBRARY_SOURCE = "cp $< $@"
# What __DATE__ and __TIME__ would leave; Bazel's own C++ toolchain replaces those two.
DATED = "cp $< $@ && date '+extern const char minitf_built[]; const char minitf_built[] = \\\"%b %d %Y %H:%M:%S\\\";' >> $@"  # fmt: skip


@pytest.fixture(scope="module")
def programs() -> Path:
    """A folder with Bazel's release binary 0.26.1, as the npm registry has it."""
    folder = default_root() / "tests" / "bazel-0.26.1"
    file = folder / "bazel-0.26.1"
    folder.mkdir(parents=True, exist_ok=True)
    with filelock.FileLock(folder / "lock"):
        if not file.exists():
            if shutil.which("npm") is None:
                pytest.skip("needs Bazel 0.26.1 or npm, which has it: apt-get install npm")
            name = "@bazel/bazel-linux_x64@0.26.1"
            subprocess.run(["npm", "pack", "--silent", name], cwd=folder, check=True, timeout=300)
            (archive,) = folder.glob("*.tgz")
            with tarfile.open(archive) as packed:
                member = next(m for m in packed if m.isfile() and m.size > 10_000_000)
                stream = packed.extractfile(member)
                assert stream is not None
                with file.open("wb") as out:
                    shutil.copyfileobj(stream, out)
            archive.unlink()
            file.chmod(0o755)
    assert sha256_file(file) == BAZEL
    return folder


def twice(folder: Path, programs: Path, tree: Path, *options: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "tfenv", "audit", "--twice", "1.15.5-cpu", "--json"]
    command += ["--source", str(tree), *options]
    environment = {**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=1500,
        check=False,
    )
    assert done.returncode in (0, 1), done.stderr[-2000:] + done.stdout[-2000:]
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_minitf_is_the_same_twice(tmp_path: Path, checkout: Path, programs: Path) -> None:
    result = twice(tmp_path, programs, checkout / "tests" / "data" / "minitf")
    assert result["verdict"] in ("identical", "equivalent"), result["differences"]
    assert {"folder", "time", "time zone", "umask"} <= set(result["varied"])


def test_a_planted_date_is_found_and_named(tmp_path: Path, checkout: Path, programs: Path) -> None:
    tree = tmp_path / "minitf"
    shutil.copytree(checkout / "tests" / "data" / "minitf", tree)
    build = tree / "1.15.5" / "tensorflow" / "core" / "user_ops" / "BUILD"
    text = build.read_text("utf-8")
    assert text.count(LIBRARY_SOURCE) == 1
    build.write_text(text.replace(LIBRARY_SOURCE, DATED), "utf-8")
    result = twice(tmp_path, programs, tree)
    assert result["verdict"] == "equivalent", result["differences"]
    assert "build-timestamp" in result["normalisers"]
    dated = [e for e in result["explained"] if e["normaliser"] == "build-timestamp"]
    assert {e["path"].rpartition("/")[2] for e in dated} == {"_minitf_ops.so"}
    assert "minitf_built" in dated[0]["detail"] or ".rodata" in dated[0]["detail"]
    built = tmp_path / ".tfenv" / "audit" / "1.15.5-cpu"
    wheels = sorted(built.glob("*/.tfenv/dist/1.15.5-cpu/*.whl"))
    command = [sys.executable, "-m", "tfenv", "audit", "--strict", "--json", *map(str, wheels)]
    strict = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert strict.returncode == 1
    causes = {d["cause"] for d in json.loads(strict.stdout)["differences"]}
    assert "__DATE__, __TIME__ or another time of the build" in causes
