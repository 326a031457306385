"""Broken subjects: installed TensorFlows with one thing wrong, made from a healthy one.

Each lies in `tests/data/broken/<name>/` as `subject.toml` (what it breaks, which checks must fail)
with, where needed, `patch.py` (run right after `import tensorflow`) or `op.cc` (an op library that
replaces a real kernel).
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import msgspec
import tomli

from tests.wheels import native
from tfenv.verify.interpreter import python_in

FOLDER = Path(__file__).resolve().parents[1] / "data" / "broken"


class Edit(msgspec.Struct, frozen=True):
    """One change of one installed file."""

    file: str
    append: str = ""
    find: str = ""
    replace: str = ""


class Broken(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The content of a subject.toml."""

    breaks: str  # one sentence
    caught_by: list[str]  # checks; those that the release has must fail, and at least one has to
    suites: list[str]
    releases: str = ""  # PEP 440 specifier: where this can be built; empty: everywhere
    variant: str = ""  # verified as this variant of its release, not as its own
    elsewhere: list[str] = []  # libraries that move out of the package, with a link in their place
    remove: list[str] = []
    halve: list[str] = []  # files that lose their second half
    rename: list[tuple[str, str]] = []
    edit: list[Edit] = []
    op: str = ""
    driver: str = ""  # source of a library that takes the place of NVIDIA's driver
    device: str = "auto"
    name: str = ""

    @property
    def only_adds(self) -> bool:
        """Whether it leaves all the files of the healthy environment as they are."""
        return not (self.elsewhere or self.remove or self.halve or self.rename or self.edit)


def all_subjects() -> list[Broken]:
    """Every broken subject, by name."""
    return [read(path.parent.name) for path in sorted(FOLDER.glob("*/subject.toml"))]


def read(name: str) -> Broken:
    """One broken subject."""
    table = tomli.loads((FOLDER / name / "subject.toml").read_text("utf-8"))
    return msgspec.convert(table | {"name": name}, Broken)


def make(broken: Broken, healthy: Path, home: Path, version: str) -> Path:
    """Copy the environment `healthy` to `home`, break it, and return its Python.

    The copy is made of hard links, so a file is replaced and never written to.
    """
    copy(healthy, home)
    _alter(broken, home)
    add(broken, home, version)
    return python_in(home)


def copy(healthy: Path, home: Path) -> None:
    """Copy an environment by hard links."""
    shutil.copytree(healthy, home, symlinks=True, copy_function=os.link)


def _alter(broken: Broken, home: Path) -> None:
    """What is done to files that are there."""
    site = site_packages(home)
    for pattern in broken.remove:
        for path in site.glob(pattern):
            path.unlink()
    for pattern in broken.halve:
        for path in site.glob(pattern):
            text = path.read_bytes()
            path.unlink()
            path.write_bytes(text[: len(text) // 2])
    for pattern, new in broken.rename:
        for path in list(site.glob(pattern)):
            path.rename(path.with_name(new))
    for pattern in broken.elsewhere:
        for path in list(site.glob(pattern)):
            (home / "moved").mkdir(exist_ok=True)
            path.rename(home / "moved" / path.name)
            path.symlink_to(home / "moved" / path.name)
    for edit in broken.edit:
        _edit(site, edit)


def add(broken: Broken, home: Path, version: str) -> None:
    """The files that a subject brings: what runs after the import, or replaces a kernel."""
    site = site_packages(home)
    patch = FOLDER / broken.name / "patch.py"
    if patch.exists():
        _replace(site / "tfbroken_patch.py", patch.read_text("utf-8"))
    if broken.op:
        native.op_library(
            python_in(home), version, FOLDER / broken.name / broken.op, site / "tfbroken_op.so"
        )
    if broken.driver:
        native.driver(FOLDER / broken.name / broken.driver, site / "tfbroken_libcuda.so")
    if patch.exists() or broken.op:
        _replace(site / "tfbroken.py", (FOLDER / "tfbroken.py").read_text("utf-8"))
        _replace(site / "tfbroken.pth", "import tfbroken\n")


def take_away(home: Path) -> None:
    """Remove what `add` brought, so that the copy is healthy again."""
    site = site_packages(home)
    for path in [*site.glob("tfbroken*"), *site.glob("__pycache__/tfbroken*")]:
        path.unlink()


def site_packages(home: Path) -> Path:
    """Where the packages of a virtual environment lie."""
    (found,) = home.glob("lib/python3*/site-packages")
    return found


def _edit(site: Path, edit: Edit) -> None:
    path = site / edit.file
    text = path.read_text("utf-8")
    if edit.find:
        assert edit.find in text, f"{edit.file} does not hold {edit.find!r}"
    _replace(path, (text.replace(edit.find, edit.replace) if edit.find else text) + edit.append)


def _replace(path: Path, text: str) -> None:
    path.unlink(missing_ok=True)
    path.write_text(text, encoding="utf-8")
    # Python would take the compiled file of the healthy module where the time stamps agree.
    for compiled in path.parent.glob(f"__pycache__/{path.stem}.*.pyc"):
        compiled.unlink()


def free(home: Path) -> None:
    """Remove a copy."""
    subprocess.run(["rm", "-rf", "--", str(home)], check=True)
