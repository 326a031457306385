"""What `tfenv show` calls proven is what the committed reports say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tfenv import facts
from tfenv.errors import FileFormatError
from tfenv.facts import proofs, schema
from tfenv.toolchain import catalogue


def test_the_table_is_what_the_reports_give(checkout: Path) -> None:
    rows = list(facts.rows(schema.Proof))
    again = proofs.merge(rows, proofs.read(checkout / "docs" / "evidence"), "2000-01-01")
    assert set(again) == set(rows), "run: python -m tfenv.facts.proofs docs/evidence DATE"


def report(folder: Path, **changes: Any) -> Path:
    """A report as bench/evidence.py keeps it."""
    value = {
        "target": "2.6.5-cpu",
        "wheel": "x.whl (released)",
        "summary": {"passed": 3, "failed": 0, "skipped": 1, "known": 0},
        "environment": {"python": "3.7.16", "profile": "full", "device": "auto"},
        "not_exercised": ["device.gpu: no GPU"],
        "checks": [{"suite": "device"}, {"suite": "xla"}],
    }
    path = folder / "2.6.5-cpu.json"
    path.write_text(json.dumps(value | changes), "utf-8")
    return folder


def test_a_whole_report_verifies(tmp_path: Path) -> None:
    (row,) = proofs.read(report(tmp_path))
    assert (row.level, row.target, row.python) == ("verified", "2.6.5-cpu", "3.7.16")
    assert "full profile of device, xla: 3 passed, 0 known defects, 1 skipped" in row.evidence
    assert row.evidence.endswith("no GPU was used")


@pytest.mark.parametrize(
    "changes",
    [
        {"not_exercised": ["suite kernels (not asked for)"]},
        {"environment": {"python": "3.7.16", "profile": "quick", "device": "auto"}},
    ],
)
def test_a_part_of_a_report_does_not_verify(tmp_path: Path, changes: dict[str, Any]) -> None:
    (row,) = proofs.read(report(tmp_path, **changes))
    assert row.level == "checked"


@pytest.mark.parametrize(
    "summary",
    [
        {"passed": 3, "failed": 1, "skipped": 0, "known": 0},
        {"passed": 0, "failed": 0, "skipped": 9, "known": 0},
    ],
)
def test_a_failure_and_an_empty_report_prove_nothing(
    tmp_path: Path, summary: dict[str, int]
) -> None:
    assert proofs.read(report(tmp_path, summary=summary)) == []


def test_what_is_no_report_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text("[]", "utf-8")
    with pytest.raises(FileFormatError):
        proofs.read(tmp_path)


def test_a_row_keeps_its_date_for_as_long_as_its_report_says_the_same(tmp_path: Path) -> None:
    grid = facts.rows(schema.Proof)[0]
    first = proofs.merge([grid], proofs.read(report(tmp_path)), "2027-01-01")
    assert [row.date for row in first] == [grid.date, "2027-01-01"]
    assert proofs.merge(first, proofs.read(tmp_path), "2027-02-02") == first
    more = proofs.read(report(tmp_path, wheel="y.whl (released)"))
    assert [row.date for row in proofs.merge(first, more, "2027-02-02")][1:] == ["2027-02-02"]


def test_the_most_that_was_proven_is_listed() -> None:
    rows = {row.level: row for row in facts.rows(schema.Proof) if row.target == "2.6.5-cpu"}
    assert "verified" in rows
    assert catalogue.proven_level("2.6.5-cpu") == "verified"
    assert catalogue.proofs("2.6.5-cpu")[-1].level == "verified"
    assert catalogue.proven_level("2.6.5-cpu-macos") == "rendered"
    assert msgspec.structs.asdict(rows["verified"])["source"].startswith("docs/evidence/")
