"""Every check says what it proves, and which broken subject it must catch."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import Counter
from typing import Any

import pytest
import tomli

from tests.conftest import ROOT
from tfenv.resources import suite

BROKEN = ROOT / "tests" / "data" / "broken"


@pytest.fixture(scope="module")
def checks() -> list[dict[str, Any]]:
    command = [sys.executable, "-I", str(suite() / "run.py"), "--list", "--profile", "full"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_ids_are_unique(checks: list[dict[str, Any]]) -> None:
    counts = Counter(check["id"] for check in checks)
    assert [name for name, count in counts.items() if count > 1] == []
    assert all(re.match(r"[a-z]+\.[a-z0-9_.]+(\[.+\])?$", check["id"]) for check in checks)


def test_the_areas_are_as_wide_as_they_are_meant_to_be(checks: list[dict[str, Any]]) -> None:
    least = {"session": 25, "xla": 25, "kernels": 400, "convlstm": 8, "native": 8, "device": 10}
    least |= {"workflow": 8, "isa": 4}
    counts = Counter(check["suite"] for check in checks)
    assert {area: counts[area] for area in least if counts[area] < least[area]} == {}
    assert sum(check["id"].startswith("xla.model[") for check in checks) == 10


def test_each_says_in_a_sentence_what_it_proves(checks: list[dict[str, Any]]) -> None:
    assert [c["id"] for c in checks if not re.match(r"[A-Za-z].{20,}\.$", c["proves"])] == []


def test_each_names_a_broken_subject(checks: list[dict[str, Any]]) -> None:
    assert [check["id"] for check in checks if not check["catches"]] == []


def test_the_broken_subjects_that_checks_name_exist(checks: list[dict[str, Any]]) -> None:
    there = {path.parent.name for path in BROKEN.glob("*/subject.toml")}
    assert sorted({name for check in checks for name in check["catches"]} - there) == []


def test_a_check_knows_the_broken_subjects_that_name_it(checks: list[dict[str, Any]]) -> None:
    catches = {check["id"]: check["catches"] for check in checks}
    one_sided = [
        (path.parent.name, name)
        for path in BROKEN.glob("*/subject.toml")
        for name in tomli.loads(path.read_text("utf-8"))["caught_by"]
        if path.parent.name not in catches.get(name, [])
    ]
    assert one_sided == []


def test_broken_subjects_name_checks_that_exist(checks: list[dict[str, Any]]) -> None:
    ids = {check["id"] for check in checks}
    for path in BROKEN.glob("*/subject.toml"):
        table = tomli.loads(path.read_text("utf-8"))
        named = table["caught_by"]
        assert [name for name in named if name not in ids] == [], path
        assert {name.split(".")[0] for name in named} <= set(table["suites"]), path


def test_every_file_with_checks_is_in_a_group() -> None:
    groups = json.loads((suite() / "groups.json").read_text("utf-8"))["groups"]
    listed = [name for group in groups for name in group["files"]]
    there = [path.relative_to(suite()).as_posix() for path in suite().rglob("check_*.py")]
    assert sorted(listed) == sorted(there)
