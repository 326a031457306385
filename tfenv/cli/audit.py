"""`tfenv audit`: are two wheels, folders or images the same, and if not, where and why."""

from __future__ import annotations

from pathlib import Path

import click

from tfenv.cli import _output


@click.command("audit")
@click.argument("a", type=click.Path(path_type=Path))
@click.argument("b", type=click.Path(path_type=Path))
@click.option("--quick", is_flag=True, help="Read only the two RECORDs, and trust them.")
@click.option("--strict", is_flag=True, help="Use no normaliser: every byte counts.")
@click.option("--without", default="", help="Normalisers to leave out, separated by commas.")
@click.option("--html", type=click.Path(path_type=Path), help="Write a page for people here.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def command(
    a: Path, b: Path, quick: bool, strict: bool, without: str, html: Path | None, as_json: bool
) -> None:
    """Compare A with B: wheels, folders, or OCI image layouts. Exit 1 when they are different."""
    from tfenv.audit import compare, show

    names = _names(strict=strict, without=without)
    result = compare.quick(a, b) if quick else compare.audit(a, b, names)
    if html:
        from tfenv import files

        files.write_text(html, show.as_html(result))
    if as_json:
        _output.json(result)
    else:
        click.echo(show.as_text(result))
    if result.verdict == "different":
        click.get_current_context().exit(1)


def _names(*, strict: bool, without: str) -> list[str]:
    from tfenv.audit import normalise

    left_out = {name.strip() for name in without.split(",") if name.strip()}
    if unknown := left_out - set(normalise.NAMES):
        raise click.UsageError(
            f"no normaliser is called {', '.join(sorted(unknown))}; "
            f"there are {', '.join(normalise.NAMES)}"
        )
    return [] if strict else [name for name in normalise.NAMES if name not in left_out]
