"""Versions and ranges say what PEP 440's reference implementation says."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.specifiers import SpecifierSet
from packaging.version import Version as Reference

from tfenv.facts.versions import specifier, version, within

RELEASES = st.lists(st.integers(0, 22), min_size=1, max_size=4).map(
    lambda parts: ".".join(map(str, parts))
)
POST = st.sampled_from(["", "", "", ".post1", ".post2"])
VERSIONS = st.builds(lambda release, post: release + post, RELEASES, POST)
CLAUSES = st.one_of(
    st.builds(
        lambda sign, v: sign + v, st.sampled_from(["==", "!=", "<", "<=", ">", ">="]), VERSIONS
    ),
    st.builds(lambda sign, v: f"{sign}{v}.*", st.sampled_from(["==", "!="]), RELEASES),
    st.builds(lambda v, last: f"~={v}.{last}", RELEASES, st.integers(0, 9)),
)


@given(VERSIONS, VERSIONS)
def test_versions_are_ordered_like_the_reference(one: str, other: str) -> None:
    ours, theirs = (version(one), version(other)), (Reference(one), Reference(other))
    assert (ours[0] < ours[1]) == (theirs[0] < theirs[1])
    assert (ours[0] >= ours[1]) == (theirs[0] >= theirs[1])
    assert (ours[0] == ours[1]) == (theirs[0] == theirs[1])
    assert ours[0].release == theirs[0].release


@given(VERSIONS, st.lists(CLAUSES, max_size=3))
def test_ranges_hold_what_the_reference_holds(found: str, clauses: list[str]) -> None:
    wanted = ",".join(clauses)
    assert within(found, wanted) == SpecifierSet(wanted).contains(found, prereleases=True)


@pytest.mark.parametrize(
    ("found", "wanted", "expected"),
    [
        ("2.15.0.post1", ">2.15.0", False),
        ("2.15.0.post1", "==2.15.*", True),
        ("2.6", "==2.6.0", True),
        ("2.10", "<2.9", False),
        ("2.6.5", "", True),
    ],
)
def test_the_cases_that_text_order_gets_wrong(found: str, wanted: str, expected: bool) -> None:
    assert within(found, wanted) is expected


@pytest.mark.parametrize("text", ["", "x", "1.", ".1", "1.0rc1", "1.0+local", "1..2", "v1.0"])
def test_what_is_no_such_version_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not a version"):
        version(text)


@pytest.mark.parametrize("text", ["1.0", "=1.0", ">=", ">=1.*", "~=1", "> =1", ">=x", "===1.0"])
def test_what_is_no_range_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"not a comparison|needs a version"):
        specifier(text)
