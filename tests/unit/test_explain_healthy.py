"""No false causes: logs of runs that went well, and text that is no log at all."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
import tomli

from tfenv.diagnose.explain import explain_text

DATA = Path(__file__).parents[1] / "data" / "logs" / "healthy.toml"
LOGS = [(row["name"], row["text"]) for row in tomli.loads(DATA.read_text("utf-8"))["log"]]


@pytest.mark.parametrize(("name", "text"), LOGS)
def test_a_good_run_has_no_cause(name: str, text: str) -> None:
    answer = explain_text(text)
    assert answer.root_cause == "none", (name, answer)


def test_all_good_runs_in_one_log() -> None:
    assert explain_text("".join(text for _, text in LOGS)).root_cause == "none"


@pytest.mark.parametrize("seed", range(10))
def test_random_bytes_have_no_cause(seed: int) -> None:
    noise = random.Random(seed).randbytes(200_000)
    assert explain_text(noise).root_cause == "none"


@pytest.mark.parametrize("seed", range(5))
def test_random_words_have_no_cause(seed: int) -> None:
    source = random.Random(seed)
    words = [*Path(__file__).read_text("utf-8").split(), "error", "not", "found", "failed", "GPU"]
    text = "\n".join(" ".join(source.choices(words, k=12)) for _ in range(2000))
    assert explain_text(text).root_cause == "none"


@pytest.mark.parametrize("text", ["", "\n", "\x00" * 100, "\r\n\r\n", "\ufeff", "x" * 3_000_000])
def test_odd_input_is_no_failure(text: str) -> None:
    assert explain_text(text).root_cause == "none"
