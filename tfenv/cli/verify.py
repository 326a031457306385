"""`tfenv verify`: environment, suite, report."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from tfenv.target import Target
    from tfenv.verify.result import Report
    from tfenv.verify.stage import Request


@click.command("verify")
@click.argument("target", required=False)
@click.option("--wheel", type=click.Path(path_type=Path), help="A wheel file to verify.")
@click.option("--python", default="", help="A Python's path, its name on PATH, or a minor as 3.9.")
@click.option(
    "--engine",
    type=click.Choice(["venv", "host"]),
    default="venv",
    show_default=True,
    help="venv: an environment made from the lock. host: the TensorFlow that --python has.",
)
@click.option("--suite", default="", help="Areas to check, separated by commas; default: all.")
@click.option("--profile", type=click.Choice(["quick", "full"]), default="quick", show_default=True)
@click.option(
    "--device",
    type=click.Choice(["cpu", "gpu", "auto"]),
    default="auto",
    show_default=True,
    help="cpu: no GPU checks. auto: without a GPU they are skipped. gpu: without one they fail.",
)
@click.option("-n", "count", type=click.IntRange(1, 64), help="Groups of checks at a time.")
@click.option("--report", type=click.Path(path_type=Path), help="Folder for the report.")
@click.option("--index", default="", help="The package index to install from.")
@click.option(
    "--compare",
    nargs=2,
    type=click.Path(path_type=Path),
    help="Two report.json files: what changed; nothing is run.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def command(
    target: str | None,
    wheel: Path | None,
    python: str,
    engine: str,
    suite: str,
    profile: str,
    device: str,
    count: int | None,
    report: Path | None,
    index: str,
    compare: tuple[Path, Path] | None,
    as_json: bool,
) -> None:
    """Verify a wheel of TARGET: --wheel, else the one built here, else the released one."""
    if compare:
        _compare(*compare, as_json=as_json)
        return
    from tfenv import target as targets
    from tfenv.verify import drive, stage

    if target is None:
        raise click.UsageError("give a TARGET, or --compare A.json B.json")
    wanted = targets.parse(target)
    request = stage.Request(
        target=wanted,
        wheel=wheel or (built_wheel(wanted) if engine == "venv" else None),
        python=python,
        engine=engine,
        orders=drive.Orders(
            suites=drive.chosen_suites(suite),
            profile=profile,
            count=count or drive.default_count(),
        ),
        device=device,
        index=index,
        folder=report or Path(".tfenv", "runs", wanted.name, time.strftime("%Y%m%d-%H%M%S")),
    )
    result = _run(request, as_json=as_json)
    click.get_current_context().exit(0 if result.right else 1)


def _run(request: Request, *, as_json: bool) -> Report:
    from rich.console import Console

    from tfenv.report import table, write
    from tfenv.verify import stage

    console = Console(stderr=as_json)
    result = stage.verify(
        request,
        lambda text: console.print(text, highlight=False, markup=False, soft_wrap=True),
        table.Progress(console),
    )
    files = write.all_formats(result, request.folder)
    if as_json:
        click.echo(files.json.read_text("utf-8"), nl=False)
    else:
        table.show(console, result)
        console.print(f"report: {request.folder}", highlight=False, soft_wrap=True)
    return result


def _compare(before: Path, after: Path, *, as_json: bool) -> None:
    from tfenv.verify import compare, result

    found = compare.compare(result.read(before), result.read(after))
    if as_json:
        import msgspec

        click.echo(msgspec.json.format(msgspec.json.encode(found)).decode())
    else:
        from rich.console import Console

        from tfenv.report import table

        table.show_comparison(Console(), found)
    click.get_current_context().exit(0 if found.right else 1)


def built_wheel(target: Target) -> Path | None:
    """The newest wheel that was built here for a target."""
    found = Path(".tfenv", "dist", target.name).glob("*.whl")
    return max(found, key=lambda path: path.stat().st_mtime, default=None)
