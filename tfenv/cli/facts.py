"""`tfenv facts`: do the facts hold together, and is there something newer?"""

from __future__ import annotations

from pathlib import Path

import click

from tfenv.errors import EXIT_NOT_RIGHT, EXIT_OK


@click.group("facts")
def command() -> None:
    """The tables that every toolchain is derived from."""


@command.command("check")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.pass_context
def check(context: click.Context, as_json: bool) -> None:
    """Whether every row has a source and the tables agree with each other.

    Ends with exit code 1 and the rows named if not.
    """
    from tfenv.facts.check import check as check_facts

    problems = check_facts()
    if as_json:
        import msgspec

        click.echo(msgspec.json.encode({"problems": problems, "rows": _count()}).decode())
    else:
        for problem in problems:
            click.echo(str(problem), err=True)
        state = f"problems: {len(problems)}, in" if problems else "no problem in"
        click.echo(f"{state} {sum(_count().values())} rows of {len(_count())} tables")
    context.exit(EXIT_NOT_RIGHT if problems else EXIT_OK)


@command.command("update")
@click.option("--index", default="", help="The package index to ask.")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    help="Write the changed tables into this folder; in a checkout, tfenv/facts.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def update(index: str, output: Path | None, as_json: bool) -> None:
    """Look for wheels that the package index has and the table has not.

    Only wheels.toml has such a source; the other tables are kept up by hand, and say by whom.
    """
    from datetime import datetime, timezone

    from tfenv import facts, files
    from tfenv.facts import schema, table
    from tfenv.facts.update import index as asked
    from tfenv.facts.update import wheels

    address = asked.configured(index)
    today = datetime.now(timezone.utc).date().isoformat()
    listed = [
        row
        for name in wheels.DISTRIBUTIONS
        for row in wheels.read(name, asked.ask(address, name), today)
    ]
    rows, changes = wheels.merge(facts.rows(schema.Wheel), listed)
    if output is not None and changes:
        files.write_text(output / "wheels.toml", table.render(table.header("wheels"), rows))
    if as_json:
        import msgspec

        click.echo(msgspec.json.encode({"changes": changes}).decode())
        return
    for change in changes:
        wheel = f"{change.distribution} {change.version} {change.platform}"
        click.echo(f"{change.kind}: {wheel}{': ' if change.what else ''}{change.what}")
    click.echo(f"{len(rows)} wheels in the table, {len(changes)} changes")


def _count() -> dict[str, int]:
    """Rows of every table that can be read."""
    from tfenv import facts
    from tfenv.errors import FileFormatError
    from tfenv.facts import schema

    count: dict[str, int] = {}
    for name, kind in schema.TABLES.items():
        try:
            count[name] = len(facts.rows(kind))
        except (FileFormatError, FileNotFoundError):
            count[name] = 0
    return count
