"""docs/troubleshooting is what the data says, in every language."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tfenv.diagnose.pages import pages
from tfenv.diagnose.signatures import causes, languages, library, messages

DOCS = Path(__file__).parents[2] / "docs" / "troubleshooting"


@pytest.mark.skipif(not DOCS.is_dir(), reason="the documents are not beside the tests")
def test_the_committed_pages_are_the_generated_ones() -> None:
    made = pages()
    committed = {p.relative_to(DOCS).as_posix(): p.read_text("utf-8") for p in DOCS.rglob("*.md")}
    assert committed == made, "run: python -m tfenv.diagnose.pages docs/troubleshooting"


def test_links_between_pages_lead_somewhere() -> None:
    made = pages()
    for name, text in made.items():
        for link in re.findall(r"\]\(([\w./-]+\.md)\)", text):
            folder = name.rpartition("/")[0]
            target = link[3:] if link.startswith("../") else f"{folder}/{link}".lstrip("/")
            assert target in made, (name, link)


@pytest.mark.parametrize("language", [one for one in languages() if one != "en"])
def test_a_translation_is_complete(language: str) -> None:
    english, other = causes("en"), causes(language)
    holes = re.compile(r"\{([a-z_]+)")
    for name, cause in english.items():
        assert other[name].title != cause.title, name
        assert other[name].why != cause.why, name
        assert len(other[name].fix) == len(cause.fix), name
        for mine, theirs in zip(cause.fix, other[name].fix, strict=True):
            assert sorted(holes.findall(mine)) == sorted(holes.findall(theirs)), name
    said = {remark.why for remark in library().remark} | {s.note for s in library().signature}
    said |= {a.fact for s in library().signature for a in s.alternatives}
    assert said - {""} <= set(messages(language))
