"""Logs of our own making: every cause is found in another wording than its example's."""

from __future__ import annotations

from pathlib import Path

import pytest
import tomli

from tfenv.diagnose.explain import explain_text
from tfenv.diagnose.signatures import causes

DATA = Path(__file__).parents[1] / "data" / "logs"


def _logs() -> list[tuple[str, str]]:
    found = []
    for path in sorted(DATA.glob("variants-*.toml")):
        rows = tomli.loads(path.read_text("utf-8"))["log"]
        found += [(row["expect"], row["text"].lstrip("\n")) for row in rows]
    return found


@pytest.mark.parametrize(("expected", "text"), _logs())
def test_a_variant_is_explained(expected: str, text: str) -> None:
    answer = explain_text(text)
    assert answer.root_cause == expected, answer


def test_every_cause_has_a_variant() -> None:
    assert set(causes()) - {expected for expected, _ in _logs()} == {"none"}
