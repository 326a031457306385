"""The public failure reports beside this checkout: each log's root cause."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from tfenv.diagnose.explain import explain_file

SHARED = Path(__file__).parents[2].parent / "shared" / "facts"
CASES = SHARED / "diagnosis-cases.tsv"


def _cases() -> list[tuple[str, str]]:
    if not CASES.is_file():
        return []
    with CASES.open(encoding="utf-8") as stream:
        rows = csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE)
        return [(row["id"], row["expected"]) for row in rows]


@pytest.mark.skipif(not CASES.is_file(), reason="the shared facts are not beside this checkout")
@pytest.mark.parametrize(("case", "expected"), _cases())
def test_a_reported_failure_is_explained(case: str, expected: str) -> None:
    answer = explain_file(SHARED / "logs" / f"{case}.log")
    assert answer.root_cause == expected
    assert expected == "none" or (answer.evidence and answer.fix)
