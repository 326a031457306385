"""`tfenv export-ci`: the matrix of CI jobs."""

from __future__ import annotations

from pathlib import Path

import click

from tfenv.build.engines import ENGINES
from tfenv.cli import _output


@click.command("export-ci")
@click.argument("targets", nargs=-1, required=True, metavar="TARGET...")
@click.option(
    "--format",
    "form",
    type=click.Choice(["github", "gitlab", "slurm"]),
    required=True,
    help="Whose file.",
)
@click.option(
    "--engine",
    type=click.Choice(ENGINES),
    help="Where Linux targets are built; default: docker, and host for slurm.",
)
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Default: standard output.")
@click.option("--json", "as_json", is_flag=True, help="Print the jobs as JSON.")
def command(
    targets: tuple[str, ...],
    form: str,
    engine: str | None,
    output: Path | None,
    as_json: bool,
) -> None:
    """Write a CI file that builds and verifies each TARGET."""
    from tfenv import files
    from tfenv.build import ci
    from tfenv.target import parse

    wanted = [parse(name) for name in targets]
    where = engine or ("host" if form == "slurm" else "docker")
    text = ci.render(wanted, form, where)  # type: ignore[arg-type]
    if output is not None:
        files.write_text(output, text)
    if as_json:
        import msgspec

        found = ci.jobs(wanted, where)  # type: ignore[arg-type]
        _output.json({"format": form, "jobs": msgspec.to_builtins(found), "text": text})
    elif output is None:
        click.echo(text, nl=False)
    else:
        click.echo(f"wrote {output}")
