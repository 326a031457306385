"""The reference pages are what the facts give."""

from __future__ import annotations

from pathlib import Path

import pytest

from tfenv import facts
from tfenv.facts import docs, schema

PAGES = docs.pages()


@pytest.mark.parametrize("name", PAGES)
def test_committed_pages_are_up_to_date(checkout: Path, name: str) -> None:
    committed = (checkout / "docs" / "reference" / name).read_text("utf-8")
    assert committed == PAGES[name], "run: python -m tfenv.facts.docs docs/reference"


def test_pages_are_written_where_asked(tmp_path: Path) -> None:
    docs.main(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == set(PAGES)
    assert b"\r" not in (tmp_path / "facts.md").read_bytes()


def test_every_table_and_release_is_named() -> None:
    assert all(f"## {name}.toml" in PAGES["facts.md"] for name in schema.TABLES)
    releases = PAGES["facts-releases.md"]
    assert all(f"| {row.version} | " in releases for row in facts.rows(schema.Source))


def test_cells_cannot_break_out_of_their_table() -> None:
    assert docs._grid(["a"], [["x | <b>_y_"]]).splitlines()[-1] == r"| x \| \<b\>\_y\_ |"


def test_known_cells() -> None:
    releases = PAGES["facts-releases.md"]
    assert "| 2.6.5 | 3.7.2 to 3.99.0 | 3.7 to 3.9 |" in releases
    assert "| 1.4.0 | cuda | 3.5 to 3.6 | gcc 4.8 | bazel 0.5.4 | 8.0 | 6 |" in releases
    assert (
        "| 11.0 | 3.5, 3.7, 5.0, 5.2, 5.3, 6.0, 6.1, 6.2, 7.0, 7.2, 7.5, 8.0 | 9 |"
        in (PAGES["facts-cuda.md"])
    )
