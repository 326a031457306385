"""The kernels' checks: how known defects are judged, and that each has a broken subject."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import tomli

from tests.conftest import ROOT
from tfenv.resources import suite

BROKEN = ROOT / "tests" / "data" / "broken"
KEY = "vector.sum.any"


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Any]:
    """The module, with one listed defect and no other state."""
    monkeypatch.syspath_prepend(str(suite() / "lib"))
    for name in [n for n in sys.modules if n.split(".")[0] == "tfsuite"]:
        monkeypatch.delitem(sys.modules, name)
    module = importlib.import_module("tfsuite.known")
    row = module.Defect("vector.sum.*", ">=2.0,<2.7", "project#1", says="too large")
    monkeypatch.setattr(module, "TABLE", (row,))
    expect(monkeypatch, tmp_path, version="2.6.5")
    yield module
    for name in [n for n in sys.modules if n.split(".")[0] == "tfsuite"]:
        monkeypatch.delitem(sys.modules, name)


def expect(patch: pytest.MonkeyPatch, folder: Path, **fields: Any) -> None:
    path = folder / f"expect-{len(list(folder.iterdir()))}.json"
    path.write_text(json.dumps({"schema": 1, **fields}), encoding="utf-8")
    patch.setenv("TFSUITE_EXPECT", str(path))


def failing(module: Any, text: str) -> Callable[[], None]:
    def call() -> None:
        raise module.Wrong(text)

    return call


def test_a_listed_defect_is_known(known: Any) -> None:
    with pytest.raises(known.KnownDefect, match="project#1"):
        known.judged(KEY, failing(known, "the sum is too large"))


def test_another_failure_of_the_same_case_is_a_failure(known: Any) -> None:
    with pytest.raises(known.Wrong, match="shape"):
        known.judged(KEY, failing(known, "the shape is (2,)"))


def test_an_unlisted_case_fails(known: Any) -> None:
    with pytest.raises(known.Wrong):
        known.judged("vector.mean.any", failing(known, "too large"))


def test_a_listed_defect_that_is_absent_is_reported(
    known: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with pytest.raises(known.Wrong, match="listed defect is absent"):
        known.judged(KEY, lambda: ("error 1", {"error": 1}))
    expect(monkeypatch, tmp_path, version="2.6.5", released=False)
    text, data = known.judged(KEY, lambda: ("error 1", {"error": 1}))
    assert "listed defect is absent" in text
    assert data == {"error": 1}


def test_another_release_is_not_concerned(
    known: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    expect(monkeypatch, tmp_path, version="2.15.1")
    assert known.judged(KEY, lambda: "fine") == "fine"
    with pytest.raises(known.Wrong):
        known.judged(KEY, failing(known, "too large"))


@pytest.fixture(scope="module")
def checks() -> list[dict[str, Any]]:
    command = [sys.executable, "-I", str(suite() / "run.py"), "--list", "--profile", "full"]
    done = subprocess.run(
        [*command, "--suite", "kernels"], capture_output=True, text=True, check=True
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_there_are_enough(checks: list[dict[str, Any]]) -> None:
    ids = {check["id"] for check in checks if check["suite"] == "kernels"}
    assert len(ids) >= 400
    names = {part.split("[")[1].rstrip("]").split("-")[0] for part in ids if "[" in part}
    assert len(names) >= 120


def test_every_broken_kernel_is_named_by_a_check_and_the_other_way_round(
    checks: list[dict[str, Any]],
) -> None:
    caught = {name for c in checks if c["suite"] == "kernels" for name in c["catches"]}
    there = {path.parent.name for path in BROKEN.glob("*/subject.toml")}
    assert caught <= there, sorted(caught - there)
    mine = {
        path.parent.name
        for path in BROKEN.glob("*/subject.toml")
        if tomli.loads(path.read_text("utf-8"))["suites"] == ["kernels"]
    }
    assert mine <= caught, sorted(mine - caught)


def test_what_a_release_may_lack_is_a_range() -> None:
    path = suite() / "lib" / "tfsuite" / "kernels_first.json"
    first = json.loads(path.read_text("utf-8"))["first"]
    assert all(len(key.split(".")) == 3 for key in first)
    assert all(text.startswith(">=") for text in first.values())
