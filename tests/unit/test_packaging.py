"""The package as a package: what is in its wheel, what it imports, what its pins say."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import tomli

import tfenv
from tests.conftest import ROOT, installed

CORE = {"click", "filelock", "jinja2", "msgspec", "packaging", "rich", "tomli", "uv"}
EXTRAS = {"docker", "conda", "build", "audit", "attest", "explain"}
PURE = ("facts", "toolchain", "lock", "render")
# Re-locking asks the world, and so does looking for newer facts.
IMPURE_IN_PURE = re.compile(r"^tfenv/(lock/(resolve|update)|facts/update)(_|\b)")  # ask the world


def pyproject() -> dict[str, object]:
    return tomli.loads((ROOT / "pyproject.toml").read_text("utf-8"))


def project() -> dict[str, object]:
    table = pyproject()["project"]
    assert isinstance(table, dict)
    return table


def names(requirements: object) -> set[str]:
    assert isinstance(requirements, list)
    return {re.split(r"[<>=!~; \[]", text)[0] for text in requirements}


def test_the_right_package_is_tested() -> None:
    """Otherwise a broken wheel would pass on the strength of the checkout beside it."""
    where = Path(tfenv.__file__).resolve()
    if installed():
        assert "site-packages" in where.parts
        assert not (ROOT / "tfenv").exists()
    else:
        assert where == ROOT / "tfenv" / "__init__.py"


def test_dependencies_are_the_agreed_ones() -> None:
    assert names(project()["dependencies"]) == CORE
    extras = project()["optional-dependencies"]
    assert isinstance(extras, dict)
    assert extras.keys() == EXTRAS


def pins(text: str) -> dict[str, tuple[str, int]]:
    """Version and number of hashes of each pinned requirement."""
    found = {}
    for block in re.split(r"\n(?=\S)", text):
        if match := re.match(r"([A-Za-z0-9_.-]+)==([^ ;\\]+)", block):
            found[match[1]] = (match[2], block.count("--hash=sha256:"))
    return found


@pytest.mark.parametrize("name", ["core", "all-extras", "dev", "build", "nox"])
def test_requirements_are_pinned_by_hash(name: str) -> None:
    text = (ROOT / "requirements" / f"{name}.txt").read_text("utf-8")
    found = pins(text)
    assert found
    assert all(hashes for _, hashes in found.values())
    assert "://" not in text
    largest = pins((ROOT / "requirements" / "dev.txt").read_text("utf-8"))
    assert {key: value for key, value in found.items() if largest.get(key) != value} == {}


def test_core_requirements_cover_the_core_dependencies() -> None:
    found = pins((ROOT / "requirements" / "core.txt").read_text("utf-8"))
    assert found.keys() >= CORE


def test_compiled_requirements_cover_every_extra_and_tool() -> None:
    """A new dependency in pyproject.toml has to be compiled: ./noxw -s requirements."""
    extras, groups = project()["optional-dependencies"], pyproject()["dependency-groups"]
    assert isinstance(extras, dict)
    assert isinstance(groups, dict)
    wanted = set().union(*map(names, [*extras.values(), *groups.values()]))
    found = pins((ROOT / "requirements" / "dev.txt").read_text("utf-8"))
    assert wanted <= found.keys()


def imports(tree: ast.AST) -> set[str]:
    """Dotted names of all that a module imports, `from a import b` as `a` and `a.b`."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


def test_pure_modules_open_no_url(checkout: Path) -> None:
    """import-linter holds the other modules; it cannot forbid a part of the standard urllib."""
    paths = [
        path
        for name in PURE
        for path in (checkout / "tfenv" / name).rglob("*.py")
        if not IMPURE_IN_PURE.match(path.relative_to(checkout).as_posix())
    ]
    paths.append(checkout / "tfenv" / "target.py")
    guilty = [p.name for p in paths if "urllib.request" in imports(ast.parse(p.read_text("utf-8")))]
    assert guilty == []
    assert "urllib.request" in imports(ast.parse("from urllib import request"))


@pytest.mark.skipif(installed(), reason="the wheel under test was built from the checkout already")
def test_wheel_and_sdist_hold_what_they_need(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "build", "--no-isolation", "-o", str(tmp_path), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        inside = set(archive.namelist())
        metadata = archive.read(next(n for n in inside if n.endswith("/METADATA"))).decode()
    expected = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "tfenv").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    for folder, name in (("templates", "_templates"), ("verify", "_suite")):
        expected |= {
            f"tfenv/{name}/{path.relative_to(ROOT / folder).as_posix()}"
            for path in (ROOT / folder).rglob("*")
            if path.is_file() and "__pycache__" not in path.parts
        }
    packaged = {name for name in inside if name.startswith("tfenv/")}
    assert packaged == expected
    assert any(name.endswith("/licenses/LICENSE") for name in inside)
    assert "License-Expression: Apache-2.0" in metadata
    assert f"Version: {tfenv.__version__}" in metadata


@pytest.mark.skipif(os.name == "nt", reason="Windows keeps no executable bit")
def test_scripts_are_executable() -> None:
    for name in ("noxw", ".ci/run"):
        assert os.access(ROOT / name, os.X_OK)
