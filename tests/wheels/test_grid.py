"""Committed locks install, import and work in the Pythons that they are for.

A sample here; `nox -s grid` runs them all and records what passed.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from bench import grid
from tfenv import facts
from tfenv.errors import EnvironmentFailedError
from tfenv.facts import schema
from tfenv.target import parse
from tfenv.toolchain import lookup
from tfenv.verify.interpreter import find


@pytest.fixture(scope="module")
def oldest() -> Iterator[Path]:
    """The Python of an environment with 1.4.0, the smallest of the grid."""
    with grid.own_cache():
        try:
            python, _ = grid.make(parse("1.4.0-cpu"), "3.6")
        except EnvironmentFailedError as error:
            pytest.skip(f"{error.what}: {error.why}")
        yield python


@pytest.mark.tf
@pytest.mark.slow
def test_the_oldest_release_works(oldest: Path) -> None:
    assert grid.use(oldest, "1.4.0") == dict.fromkeys(
        ("load", "compute", "recurrent", "saved", "tensorboard"), ""
    )


@pytest.mark.tf
@pytest.mark.slow
def test_another_version_than_was_locked_is_seen(oldest: Path) -> None:
    steps = grid.use(oldest, "1.4.1")
    assert steps == {"load": "AssertionError: 1.4.0"}


@pytest.mark.tf
@pytest.mark.slow
def test_a_package_that_does_not_fit_is_seen(oldest: Path) -> None:
    """What a lock without its effective pin brings: an h5py that the release cannot use."""
    (broken,) = oldest.parents[1].glob("lib/python3.6/site-packages/h5py/__init__.py")
    text = broken.read_text("utf-8")
    broken.unlink()  # the file may be a link into uv's cache
    broken.write_text("raise ImportError('built for another numpy')\n", encoding="utf-8")
    try:
        steps = grid.use(oldest, "1.4.0")
    finally:
        broken.write_text(text, encoding="utf-8")
    assert steps["load"] == ""
    assert "h5py" in steps["saved"]


@pytest.mark.tf
@pytest.mark.slow
def test_a_release_of_the_middle_works() -> None:
    try:
        find(["3.8"])
    except EnvironmentFailedError as error:
        pytest.skip(f"{error.what}: {error.why}")
    outcome = grid.run("2.3.4-cpu", "3.8")
    assert outcome.right, outcome.steps


def test_a_python_without_tensorflow_is_not_right() -> None:
    steps = grid.use(Path(sys.executable), "2.6.5")
    assert steps["load"].startswith("ModuleNotFoundError")
    assert not grid.Outcome("2.6.5-cpu", "3.7.16", steps).right
    assert not grid.Outcome("2.6.5-cpu", "3.7.16", {}).right


def test_every_lock_of_the_grid_is_committed() -> None:
    for name, python in grid.GRID:
        assert lookup.python_lock(parse(name), python), f"{name} on Python {python}"


def test_the_facts_hold_what_the_grid_found() -> None:
    proven = {
        (row.target, grid.minor(row.python))
        for row in facts.rows(schema.Proof)
        if row.level == "imported"
    }
    assert set(grid.GRID) <= proven


def test_a_failure_takes_the_proof_away() -> None:
    good = grid.Outcome("2.6.5-cpu", "3.7.16", {"load": ""})
    bad = grid.Outcome("2.6.5-cpu", "3.7.17", {"load": "", "saved": "ImportError: h5py"})
    rows = grid.merged([], [good], "2026-11-30")
    assert [(row.target, row.python, row.date) for row in rows] == [
        ("2.6.5-cpu", "3.7.16", "2026-11-30")
    ]
    assert grid.merged(rows, [bad], "2026-12-01") == []


def test_the_cache_is_put_back() -> None:
    before = os.environ.get("TFENV_CACHE")
    with grid.own_cache() as folder:
        assert os.environ["TFENV_CACHE"] == str(folder)
    assert os.environ.get("TFENV_CACHE") == before
    assert not folder.exists()
