"""The conda engine builds minitf in an environment that is solved and installed for real."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.engines import bazel_builds as builds
from tests.engines.channel import Channel, served

pytest.importorskip("rattler", reason="py-rattler is not installed")
pytestmark = [
    pytest.mark.bazel,
    pytest.mark.tf,
    pytest.mark.slow,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Linux targets"),
]
TARGET = "1.15.5-cpu"
BAZELISK = "@bazel/bazelisk@1.19.0"


def bazelisk(folder: Path) -> Path:
    """The real Bazelisk, as the npm registry has it."""
    if shutil.which("npm") is None:
        pytest.skip("npm is not installed")
    folder.mkdir()
    words = ["npm", "pack", "--silent", "--ignore-scripts", BAZELISK]
    if subprocess.run(words, cwd=folder, capture_output=True, check=False).returncode:
        pytest.skip(f"npm did not give {BAZELISK}")
    (packed,) = folder.glob("*.tgz")
    with tarfile.open(packed) as tar:
        stream = tar.extractfile("package/bazelisk-linux_amd64")
        assert stream is not None
        program = folder / "bazelisk"
        program.write_bytes(stream.read())
    program.chmod(0o755)
    return program


def channel(folder: Path, bazelisk: Path) -> None:
    """What environment.build.yml names: this machine's Python, pip and compiler in conda's clothes."""
    python = builds.need_python("3.7")
    made = Channel(folder)
    made.add(
        *("python", "3.7.12"),
        # As in a virtual environment: Python finds its library by this file, its packages by the
        # folder that it is started from.
        files={"pyvenv.cfg": f"home = {python / 'bin'}\ninclude-system-site-packages = false\n"},
        links={f"bin/{name}": f"{python}/bin/python3.7" for name in ("python", "python3")},
    )
    made.add("pip", "22.1", subdir="noarch", files=dict(pip(python)))
    for name, variable in (("gcc", "CC"), ("gxx", "CXX")):
        program = f"bin/x86_64-conda-linux-gnu-{variable.lower()}"
        made.add(
            *(f"{name}_linux-64", "7.5.0"),
            files={
                f"etc/conda/activate.d/{name}.sh": f'export {variable}="$CONDA_PREFIX/{program}"\n'
            },
            links={program: str(shutil.which("gcc" if name == "gcc" else "g++"))},
        )
    made.add("bazelisk", "1.19.0", links={"bin/bazel": str(bazelisk)})
    for name in ("git", "patch", "unzip", "zip"):
        made.add(name, "1.0")
    made.write_index()


def pip(python: Path) -> Iterator[tuple[str, str]]:
    """pip's files of that Python, by their place in an environment."""
    site = python / "lib" / "python3.7" / "site-packages"
    for file in sorted([*site.glob("pip/**/*"), *site.glob("pip-*.dist-info/*")]):
        if file.is_file() and file.suffix not in {".exe", ".pyc"}:
            yield file.relative_to(python).as_posix(), file.read_text("utf-8")


def test_the_engine_conda(tmp_path: Path) -> None:
    builds.need_bazel(TARGET)
    work, tools = tmp_path / "work", tmp_path / "tools"
    work.mkdir()
    tools.mkdir()
    conda = tools / "conda"
    standin = Path(__file__).with_name("conda_standin.py")
    conda.write_text(f'#!/bin/sh\nexec {sys.executable} {standin} "$@"\n')
    conda.chmod(0o755)
    channel(tmp_path / "channel", bazelisk(tmp_path / "npm"))
    with served(tmp_path / "channel") as url:
        build = functools.partial(
            builds.build,
            PATH=f"{tools}{os.pathsep}{os.environ['PATH']}",
            STANDIN_CHANNEL=url,
            STANDIN_CACHE=str(tmp_path / "packages"),
            BAZELISK_BASE_URL="http://127.0.0.1:9",  # it has to take the Bazel that it is given
            BAZELISK_HOME=str(tmp_path / "bazelisk"),
        )
        try:
            code, first, said = build(work, TARGET, "--engine", "conda")
            assert code == 0, (first, said, log(work))
            assert (first["engine"], first["bazel"]) == ("conda", "0.26.1")
            assert Path(first["files"][0]).stat().st_size > 100_000_000
            assert "x86_64-conda-linux-gnu-cc" in environment_of_bazel(work)
            # A killed `env create` leaves half a prefix: it is made again, and the build goes on.
            Path(first["files"][0]).unlink()
            (marker,) = (work / ".tfenv/work" / f"{TARGET}-conda" / "conda").glob(
                "conda-meta/tfenv-*"
            )
            marker.unlink()
            code, again, said = build(work, TARGET, "--engine", "conda")
            assert (code, again["products"]) == (0, first["products"]), log(work)
            assert marker.is_file()
        finally:
            builds.stop_bazel(work)


def environment_of_bazel(folder: Path) -> str:
    """What Bazel found as its C compiler: the file that it configures its toolchain by."""
    found = folder.glob(".tfenv/work/*/bazel/*/external/local_config_cc/*")
    return "".join(file.read_text("utf-8", "replace") for file in found if file.is_file())


def log(folder: Path) -> str:
    """The end of the newest log."""
    logs = sorted(folder.glob(".tfenv/runs/*/*/log.txt"))
    return logs[-1].read_text()[-3000:] if logs else ""
