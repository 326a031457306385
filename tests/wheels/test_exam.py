"""The exam's own parts: what counts as caught, and that a broken copy is made whole again."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.wheels import subjects
from tests.wheels.exam_result import Exam, Healthy, Verdict, page, seen_to_fail
from tests.wheels.suite_parts import Listed


def verdict(named: list[str], caught_by: list[str]) -> Verdict:
    return Verdict(
        name="wrong-sum",
        breaks="sums are off",
        named=named,
        caught_by=caught_by,
        also_failed=[],
        unproven=[],
        says="a|b is 3, not 2",
        seconds=12.4,
        digest="0",
    )


@pytest.mark.parametrize(
    ("named", "caught_by", "word"),
    [
        (["a.x", "a.y"], ["a.x", "a.y"], "caught"),
        (["a.x", "a.y"], ["a.x"], "MISSED"),
        (["a.x"], [], "MISSED"),
        ([], [], "absent"),
    ],
)
def test_every_check_that_names_a_subject_has_to_fail(
    named: list[str], caught_by: list[str], word: str
) -> None:
    assert verdict(named, caught_by).word == word


def test_the_page_tells_what_was_missed() -> None:
    exam = Exam(target="2.6.5-cpu", wheel="x.whl")
    exam.healthy = [Healthy("a/check.py", {"a.x": "passed", "a.z": "failed"}, 1.0, "0")]
    exam.add(verdict(["a.x", "a.y"], ["a.x"]))
    text = page([exam], [])
    assert "0 of 1 broken subjects caught" in text
    assert "**not by a.y**" in text
    assert "failed: a.z" in text
    assert "a\\|b is 3" in text


def test_a_check_is_proven_by_a_subject_that_it_names() -> None:
    exam = Exam(target="2.6.5-cpu", wheel="x.whl")
    exam.add(verdict(["a.x"], ["a.x[odd]"]))
    checks = [
        Listed("a.x[odd]", "a/check.py", ("wrong-sum",)),
        Listed("a.x[even]", "a/check.py", ("wrong-sum",)),
        Listed("a.y", "a/check.py", ("wrong-sum",)),
    ]
    assert seen_to_fail([exam], checks) == (["a.x"], ["a.y"])
    others = [Listed("a.x[odd]", "a/check.py", ("another",))]
    assert seen_to_fail([exam], others) == ([], ["a.x"])


def test_a_later_verdict_takes_the_place_of_the_earlier() -> None:
    exam = Exam(target="2.6.5-cpu", wheel="x.whl")
    exam.add(verdict(["a.x"], []))
    exam.add(verdict(["a.x"], ["a.x"]))
    assert [v.caught for v in exam.verdicts] == [True]


def test_a_copy_is_healthy_again_when_the_subject_is_taken_away(tmp_path: Path) -> None:
    site = tmp_path / "home" / "lib" / "python3.11" / "site-packages"
    (site / "__pycache__").mkdir(parents=True)
    (site / "tensorflow.py").write_text("")
    before = sorted(tmp_path.rglob("*"))
    broken = subjects.read("feed-ignored")
    assert broken.only_adds
    subjects.add(broken, tmp_path / "home", "2.6.5")
    assert (site / "tfbroken_patch.py").exists()
    (site / "__pycache__" / "tfbroken_patch.cpython-311.pyc").write_bytes(b"")
    subjects.take_away(tmp_path / "home")
    assert sorted(tmp_path.rglob("*")) == before


def test_a_subject_that_changes_files_gets_a_copy_of_its_own() -> None:
    kinds = {broken.name: broken.only_adds for broken in subjects.all_subjects()}
    assert not kinds["missing-header"]
    assert not kinds["truncated-library"]
    assert kinds["exp-fifty-ulps"]
