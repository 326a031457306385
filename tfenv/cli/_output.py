"""Printing results: a document for programs, plain text for people."""

from __future__ import annotations

from collections.abc import Sequence

import click

from tfenv.errors import one_line


def json(document: object) -> None:
    """Print one JSON document."""
    import msgspec

    text = msgspec.json.format(msgspec.json.encode(document), indent=2).decode()
    click.echo(text)


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print aligned columns; plain text, so that it can be piped and costs no import."""
    cells = [list(head), *[[one_line(cell) for cell in row] for row in rows]]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    form = "  ".join(f"{{:<{width}}}" for width in widths)
    click.echo("\n".join(form.format(*row).rstrip() for row in cells))
