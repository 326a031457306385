"""`tfenv facts`: do the facts hold together, and is there something newer?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from tfenv.errors import EXIT_NOT_RIGHT, EXIT_OK

if TYPE_CHECKING:
    from tfenv.facts.update import Report


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
    """Ask the package index for new releases, and write the rows that it proves.

    Says of every table what was found, or why an index cannot tell and where a person looks. What
    a row needs and the index does not prove is marked in the row. Nothing is written if any answer
    of the index is not what it should be.
    """
    from datetime import datetime, timezone

    from tfenv import files
    from tfenv.facts import table
    from tfenv.facts.update import index as asked
    from tfenv.facts.update import update as look
    from tfenv.verify.index import variables

    place = variables(index).get("UV_DEFAULT_INDEX", "")
    today = datetime.now(timezone.utc).date().isoformat()
    changed, reports = look(asked.Index(asked.configured(place), today))
    if output is not None:
        for name, rows in changed.items():
            files.write_text(output / f"{name}.toml", table.render(table.header(name), rows))
    if as_json:
        import msgspec

        written = sorted(changed) if output is not None else []
        click.echo(msgspec.json.encode({"tables": reports, "written": written}).decode())
        return
    _tell(reports)
    if changed:
        where = f"written to {output}; what follows from them: docs/how-to/facts.md"
        names = ", ".join(changed)
        click.echo(f"\nchanged: {names}; {where if output else 'not written: no -o FOLDER'}")


def _tell(reports: list[Report]) -> None:
    for report in reports:
        click.echo(f"{report.table:<16}{report.state}")
        for change in report.changes:
            click.echo(f"  {change.kind}: {change.key}{': ' if change.what else ''}{change.what}")
        if report.wanted:
            hand = f" (look at {report.look_at})" if report.by == "index" else ""
            click.echo(f"  for a person{hand}: {'; '.join(report.wanted)}")


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
