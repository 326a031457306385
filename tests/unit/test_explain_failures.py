"""Failures that were really produced (see tests/data/failures): each is explained right."""

from __future__ import annotations

from pathlib import Path

import pytest
import tomli

from tfenv.diagnose.explain import explain_text

DATA = Path(__file__).parents[1] / "data" / "failures"
LOGS = sorted((DATA / "logs").glob("*.toml"))


@pytest.mark.parametrize("path", LOGS, ids=[path.stem for path in LOGS])
def test_a_real_failure_is_explained(path: Path) -> None:
    case = tomli.loads(path.read_text("utf-8"))
    answer = explain_text("\n".join(case["log"]))
    assert answer.root_cause == case["expect"], answer


def test_there_are_enough_of_them() -> None:
    assert len(LOGS) >= 25


def test_every_captured_log_has_its_script() -> None:
    cases = {
        case["name"]: case for case in tomli.loads((DATA / "cases.toml").read_text("utf-8"))["case"]
    }
    for path in LOGS:
        assert cases[path.stem]["expect"] == tomli.loads(path.read_text("utf-8"))["expect"]
