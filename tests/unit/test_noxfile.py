"""The noxfile's own logic: which targets run where, and that it needs nothing but nox."""

from __future__ import annotations

import ast
import importlib.util
import platform
import sys
from pathlib import Path
from types import ModuleType

import pytest
from nox import registry

from tests.conftest import installed

STDLIB_AND_NOX = {*sys.stdlib_module_names, "nox"}

if installed():
    pytest.skip("the noxfile reads the checkout's package", allow_module_level=True)


@pytest.fixture
def noxfile(root: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A fresh copy of the module and of nox's registry, which takes each session once."""
    monkeypatch.setattr(registry, "_REGISTRY", type(registry._REGISTRY)())
    spec = importlib.util.spec_from_file_location("noxfile_under_test", root / "noxfile.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_imports_only_nox_and_the_standard_library(root: Path) -> None:
    tree = ast.parse((root / "noxfile.py").read_text("utf-8"))
    names = {
        alias.name.partition(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for alias in node.names
    } | {
        (node.module or "").partition(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
    }
    assert names <= STDLIB_AND_NOX


@pytest.mark.parametrize(
    ("target", "system", "machine", "expected"),
    [
        ("2.6.5-cpu", "linux", "x86_64", True),
        ("2.6.5-cuda", "linux", "x86_64", True),
        ("2.6.5-cpu-cc", "linux", "x86_64", True),
        ("2.6.5-cpu", "linux", "aarch64", False),
        ("2.15.1-cpu-arm64", "linux", "aarch64", True),
        ("2.15.1-cpu-arm64", "linux", "x86_64", False),
        ("2.6.5-cpu", "darwin", "x86_64", False),
        ("2.6.0-cpu-macos", "darwin", "x86_64", True),
        ("2.6.0-cpu-macos", "darwin", "arm64", True),
        ("1.15.5-cpu-macos-cc", "darwin", "x86_64", True),
        ("2.15.1-cpu-macos-arm64", "darwin", "arm64", True),
        ("2.15.1-cpu-macos-arm64", "darwin", "x86_64", False),
        ("2.10.1-cuda-windows", "win32", "AMD64", True),
        ("2.10.1-cuda-windows", "linux", "x86_64", False),
        ("2.6.5-cpu", "freebsd14", "amd64", False),
    ],
)
def test_targets_of_this_system(
    noxfile: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
    target: str,
    system: str,
    machine: str,
    expected: bool,
) -> None:
    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setattr(platform, "machine", lambda: machine)
    assert noxfile.runs_here(target) is expected


def test_every_target_of_this_system_has_its_three_sessions(noxfile: ModuleType) -> None:
    here = [t for t in noxfile.TARGETS.read_text("utf-8").split() if noxfile.runs_here(t)]
    expected = {f"{c}-{t}" for t in here for c in ("build", "verify", "audit")}
    assert expected <= registry.get().keys()


def test_target_names_are_sorted_out_by_the_grammar(noxfile: ModuleType) -> None:
    """One name per line, each known to tfenv: a stale file would offer sessions that fail."""
    lines = noxfile.TARGETS.read_text("utf-8").splitlines()
    assert lines == list(dict.fromkeys(lines))
    target = pytest.importorskip("tfenv.target")
    for line in lines:
        assert target.parse(line).name == line
