"""Hand one pair of members to diffoscope, for whoever wants to see everything about it."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

from tfenv.audit.normalise import canonical_path, shown_path
from tfenv.audit.sides import declared, open_both
from tfenv.errors import MissingToolError, UsageError
from tfenv.wheel.entry import Tree


def diffoscope(a: Path, b: Path, member: str) -> int:
    """Run diffoscope on one member of both sides; its exit code (0 same, 1 different).

    The members are written to a temporary folder under fixed names, never under their own.

    Raises:
        MissingToolError: diffoscope is not on PATH.
        UsageError: a side has no such member.
    """
    program = shutil.which("diffoscope")
    if program is None:
        raise MissingToolError(
            "diffoscope is not installed",
            "it is not on PATH",
            "apt-get install diffoscope-minimal, or pip install diffoscope",
        )
    trees = open_both(a, b)
    try:
        with tempfile.TemporaryDirectory() as name:
            files = [
                _extract(tree, member, Path(name) / side)
                for side, tree in zip("ab", trees, strict=True)
            ]
            return subprocess.run([program, *map(str, files)], check=False).returncode
    finally:
        for tree in trees:
            tree.close()


def _extract(tree: Tree, member: str, folder: Path) -> Path:
    facts = declared(tree)
    path = next(
        (p for p in tree.entries if member in (p, shown_path(canonical_path(p, facts)))), None
    )
    if path is None:
        raise UsageError(
            f"{tree.path.name} has no member {member[:80]}",
            "names are those of the report, with {version} where it stands",
            "see `tfenv audit A B`",
        )
    folder.mkdir()
    file = folder / f"member{_suffix(path)}"
    with file.open("wb") as out:
        for _, chunks in tree.stream(lambda entry: entry.path == path):
            out.writelines(chunks)
    return file


def _suffix(path: str) -> str:
    """A suffix that tells diffoscope the kind of file, if it is a harmless one."""
    suffix = Path(path).suffix
    return suffix if suffix[1:].isalnum() and len(suffix) < 8 else ""
