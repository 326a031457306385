"""The signature data: every cause has one, every example is found, every pattern compiles."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from tfenv.diagnose import derive, lines
from tfenv.diagnose.fixes import fill
from tfenv.diagnose.signatures import causes, library
from tfenv.diagnose.template import compile_template

SHARED = Path(__file__).parents[2].parent / "shared" / "facts"


def test_every_cause_of_a_signature_is_described() -> None:
    known = causes()
    for signature in library().signature:
        named = {signature.cause, *signature.supersedes, *(a.cause for a in signature.alternatives)}
        assert named <= set(known), signature.example


def test_every_described_cause_has_a_signature() -> None:
    assert set(causes()) - {s.cause for s in library().signature} == {"none"}


def test_the_vocabulary_of_causes_is_complete() -> None:
    path = SHARED / "diagnosis-root-causes.tsv"
    if not path.is_file():
        pytest.skip("the shared facts are not beside this checkout")
    with path.open(encoding="utf-8") as stream:
        wanted = {row["root_cause"] for row in csv.DictReader(stream, delimiter="\t")}
    assert wanted <= set(causes())


@pytest.mark.parametrize("number", range(len(library().signature)))
def test_an_example_matches_its_signature(number: int) -> None:
    signature = library().signature[number]
    text = lines.message(signature.example)
    assert not any(word in text for word in signature.without)
    assert any(compile_template(pattern).match(text) is not None for pattern in signature.match)


def test_every_derive_function_exists() -> None:
    assert {s.derive for s in library().signature} - {""} <= set(derive.FUNCTIONS)


def test_a_line_is_looked_for_by_text_that_it_holds() -> None:
    for signature in library().signature:
        for pattern in signature.match:
            for literal in compile_template(pattern).literals:
                assert literal == lines.message(literal), "the search would never find it"


def test_fixes_can_be_said_without_a_target() -> None:
    for name, cause in causes().items():
        assert name == "none" or fill(cause.fix, {}), name
