"""In CI a test that skips for want of its engine has failed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

TESTS = """\
import pytest

@pytest.mark.nix
def test_engine():
    pytest.skip("no nix here")

@pytest.mark.nix
@pytest.mark.optional
def test_other_machine():
    pytest.skip("no GPU here")

def test_plain():
    pytest.skip("not on this system")
"""


def run(tmp_path: Path, root: Path, *, strict: bool) -> subprocess.CompletedProcess[str]:
    shutil.copy2(root / "tests" / "conftest.py", tmp_path / "conftest.py")
    shutil.copy2(root / "pyproject.toml", tmp_path / "pyproject.toml")
    (tmp_path / "test_it.py").write_text(TESTS, encoding="utf-8")
    env = {**os.environ, "TFENV_CI_STRICT": "1" if strict else "0"}
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "test_it.py"]
    return subprocess.run(
        command, cwd=tmp_path, env=env, capture_output=True, text=True, check=False
    )


def test_a_missing_engine_skips_at_home(tmp_path: Path, root: Path) -> None:
    done = run(tmp_path, root, strict=False)
    assert done.returncode == 0
    assert "3 skipped" in done.stdout


def test_a_missing_engine_fails_in_ci(tmp_path: Path, root: Path) -> None:
    done = run(tmp_path, root, strict=True)
    assert done.returncode == 1
    assert "1 failed, 2 skipped" in done.stdout
    assert "CI has to have this test's engine, and it skipped: Skipped: no nix here" in done.stdout
