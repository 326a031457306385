"""The suite is read by the oldest Python that a covered release supports."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tfenv.resources import suite

_COMPILE = (
    "import sys; [compile(open(f, encoding='utf-8').read(), f, 'exec') for f in sys.argv[1:]]"
)


def python36() -> str:
    """A real CPython 3.6: on PATH, or pyenv's."""
    root = Path(os.environ.get("PYENV_ROOT", "~/.pyenv")).expanduser()
    candidates = [*map(str, (root / "versions").glob("3.6.*/bin/python")), "python3.6"]
    for name in candidates:
        found = shutil.which(name)
        if found and subprocess.run([found, "-c", "0"], check=False).returncode == 0:
            return found
    pytest.skip("there is no Python 3.6 on this machine")


def test_python_36_compiles_every_file() -> None:
    files = sorted(map(str, suite().rglob("*.py")))
    assert len(files) > 10
    command = [python36(), "-c", _COMPILE, *files]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_newer_syntax_would_be_seen(tmp_path: Path) -> None:
    (tmp_path / "new.py").write_text("if (n := 1): pass\n", encoding="utf-8")
    command = [python36(), "-c", _COMPILE, str(tmp_path / "new.py")]
    assert subprocess.run(command, capture_output=True, check=False).returncode != 0
