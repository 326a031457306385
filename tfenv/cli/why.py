"""`tfenv why`: one value's reasons."""

from __future__ import annotations

import click

from tfenv.cli import _choices, _output


@click.command("why")
@click.argument("target")
@click.argument("key")
@_choices.choices
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(target: str, key: str, as_json: bool, **options: str) -> None:
    """Say why TARGET's toolchain has its value of KEY, and what was refused."""
    from tfenv import toolchain
    from tfenv.errors import UsageError
    from tfenv.target import parse

    chain = toolchain.choose(parse(target), _choices.collect(options))
    if key not in chain.values:
        raise UsageError(
            f"the toolchain of {chain.target.name} has no '{key[:40]}'",
            f"its keys are {', '.join(chain.values)}",
            f"tfenv why {chain.target.name} {next(iter(chain.values))}",
        )
    value = chain.values[key]
    if as_json:
        _output.json(
            {
                "target": chain.target.name,
                "key": key,
                "value": value.value,
                "rule": value.rule,
                "reason": value.reason,
                "source": value.source,
                "rejected": value.rejected,
            }
        )
        return
    click.echo(f"{key} = {value.value}")
    click.echo(f"  rule    {value.rule}")
    click.echo(f"  reason  {value.reason}")
    click.echo(f"  source  {value.source}")
    for refused in value.rejected:
        click.echo(f"  rejected {refused.value}: {refused.reason} ({refused.source})")
