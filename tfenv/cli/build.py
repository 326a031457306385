"""`tfenv build`: preflight, fetch, configure, compile, package, inspect."""

from __future__ import annotations

import click

from tfenv.build.engines import ENGINES


@click.command("build")
@click.argument("target")
@click.option(
    "--engine",
    type=click.Choice(ENGINES),
    default="docker",
    show_default=True,
    help="Where the build runs.",
)
def command(target: str, engine: str) -> None:
    """Build TARGET's wheel or library from source."""
    from tfenv.build import engines
    from tfenv.target import parse

    engines.require(engine, parse(target))  # type: ignore[arg-type]
