"""`tfenv facts`: do the facts hold together, and is there something newer?"""

from __future__ import annotations

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
