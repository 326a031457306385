"""The committed reports of released wheels are whole, and say what the documentation claims."""

from __future__ import annotations

import json
import re
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pytest

from bench import evidence_pages
from tfenv.verify.result import Report

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "evidence"
REPORTS = [
    ("1.4.0", "3.6"),
    ("1.13.2", "3.7"),
    ("1.15.5", "3.7"),
    ("2.0.4", "3.7"),
    ("2.3.4", "3.8"),
    ("2.6.5", "3.7"),
    ("2.6.5", "3.9"),
    ("2.9.3", "3.10"),
    ("2.12.1", "3.11"),
    ("2.15.1", "3.11"),
    ("2.18.1", "3.12"),
    ("2.20.0", "3.13"),
    ("2.21.0", "3.13"),
]
# Results that are not skips, at the least.
FEWEST = {
    "session": 25,
    "xla": 25,
    "kernels": 400,
    "convlstm": 8,
    "native": 8,
    "device": 10,
    "workflow": 8,
    "isa": 3,
}
# What a release lacks, in the words of its own skips.
LACKS = {("1.4.0", "xla"): ("TensorFlow 1.4.0 has no xla", "applies to TensorFlow >=1.1")}
GIB = 1 << 30


@cache
def reports() -> dict[tuple[str, str], dict[str, Any]]:
    """Every report on a CPU wheel, by version and Python."""
    found = {}
    for path in FOLDER.glob("*-cpu*.json"):
        report = json.loads(path.read_text("utf-8"))
        minor = ".".join(report["environment"]["python"].split(".")[:2])
        found[report["target"].removesuffix("-cpu"), minor] = report
    return found


@pytest.fixture(params=REPORTS, ids="-py".join)
def name(request: pytest.FixtureRequest) -> tuple[str, str]:
    assert isinstance(request.param, tuple)
    return request.param


@pytest.fixture
def report(name: tuple[str, str]) -> dict[str, Any]:
    return reports()[name]


def test_it_is_of_the_released_wheel_in_full(report: dict[str, Any]) -> None:
    assert report["wheel"].endswith("(released)")
    assert report["environment"]["profile"] == "full"


def test_nothing_failed_and_nothing_was_left_out(report: dict[str, Any]) -> None:
    counts = Counter(check["status"] for check in report["checks"])
    assert dict(counts) == {k: v for k, v in report["summary"].items() if v}
    assert counts["failed"] == 0
    assert not [text for text in report["not_exercised"] if "not asked for" in text]


def test_every_area_has_its_checks(name: tuple[str, str], report: dict[str, Any]) -> None:
    done = Counter(c["suite"] for c in report["checks"] if c["status"] != "skipped")
    for area, fewest in FEWEST.items():
        reasons = LACKS.get((name[0], area))
        if reasons is None:
            assert done[area] >= fewest, area
        else:
            assert done[area] < fewest, "it does not lack it"
            skips = [c["detail"] for c in report["checks"] if c["suite"] == area]
            assert skips
            assert all(text.startswith(reasons) for text in skips)


def test_every_skip_and_every_known_defect_says_why(report: dict[str, Any]) -> None:
    silent = [
        check["id"]
        for check in report["checks"]
        if check["status"] in ("skipped", "known") and len(check["detail"]) < 10
    ]
    assert not silent


def test_no_process_took_more_than_four_gib(report: dict[str, Any]) -> None:
    assert 0 < report["peak_bytes"] <= 4 * GIB


def test_the_pages_are_what_the_reports_say(checkout: Path) -> None:
    folder = checkout / "docs" / "evidence"
    read = {
        path.name: msgspec.json.decode(path.read_bytes(), type=Report)
        for path in folder.glob("*.json")
    }
    assert (folder / "README.md").read_text("utf-8") == evidence_pages.reports_page(read.items())
    defects = evidence_pages.defects_page(read.values())
    assert (folder / "defects.md").read_text("utf-8") == defects
    public, _, own = defects.partition("## Without one")
    assert public.count("/issues/") >= 10
    assert own.count("\n| `") >= 5


def test_no_report_names_a_folder_of_a_machine(checkout: Path) -> None:
    for path in sorted((checkout / "docs" / "evidence").rglob("*.*")):
        found = re.findall(r"[^\w.]/(?:tmp|root|home|work)/\S{0,40}", path.read_text("utf-8"))
        assert not found, path.name
    text = "no /home/someone/x/lib/a.so, 3/4 of https://x.y/z/a"
    assert evidence_pages.without_folders(text) == "no …/a.so, 3/4 of https://x.y/z/a"


def test_a_reference_is_what_stands_in_the_last_parentheses() -> None:
    detail = "f(nan) = 0.0 (measured: log(1 + exp(x)))"
    assert evidence_pages.split(detail) == ("f(nan) = 0.0", "measured: log(1 + exp(x))")
    assert evidence_pages.subject("kernels.unary_shapes[sigmoid-large]") == "kernels.unary[sigmoid]"
