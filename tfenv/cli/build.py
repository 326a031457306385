"""`tfenv build`: preflight, fetch, configure, compile, package, inspect."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tfenv import files
from tfenv.build.engines import ENGINES
from tfenv.cli import _choices, _output

if TYPE_CHECKING:
    from tfenv.build.driver import Result


@click.command("build")
@click.argument("target")
@click.option(
    "--engine",
    type=click.Choice(ENGINES),
    default="docker",
    show_default=True,
    help="Where the build runs.",
)
@click.option(
    "--source",
    "tree",
    type=click.Path(path_type=Path, file_okay=False),
    help="A source tree, or a folder with one per version; default: the release's archive.",
)
@click.option(
    "--from",
    "folder",
    type=click.Path(path_type=Path),
    help="Take downloads from this folder first (see tfenv fetch -o).",
)
@click.option("--offline", is_flag=True, help="Do not use the network.")
@click.option("--mirror", default="", help="A mirror's name, or kind=name,kind=ADDRESS,...")
@click.option("--index", default="", help="The Python package index.")
@click.option(
    "--base-image",
    default="",
    metavar="IMAGE",
    help="The base image by another name, e.g. in your own registry (engine docker).",
)
@click.option("--jobs", type=click.IntRange(1, 1024), help="Most compilers at a time.")
@click.option("--disk-cache", default="", help="A folder that Bazel keeps results in.")
@click.option("--remote-cache", default="", help="Address of a Bazel cache (grpc:, http:).")
@click.option("--remote-executor", default="", help="Address of a Remote Execution service.")
@click.option("--fresh", is_flag=True, help="Start over: forget what earlier builds left.")
@click.option("--dry-run", is_flag=True, help="Print what would run, as a script.")
@_choices.choices
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def command(
    target: str,
    engine: str,
    tree: Path | None,
    folder: Path | None,
    offline: bool,
    mirror: str,
    index: str,
    base_image: str,
    jobs: int | None,
    disk_cache: str,
    remote_cache: str,
    remote_executor: str,
    fresh: bool,
    dry_run: bool,
    as_json: bool,
    **choices: str,
) -> None:
    """Build TARGET's wheel or library from source.

    What is done is kept: a build that was stopped or killed goes on where it was, and one whose
    inputs did not change does nothing.
    """
    from tfenv import lock, toolchain
    from tfenv.build import driver, engines
    from tfenv.build.commands import Options
    from tfenv.fetch.stage import Source
    from tfenv.target import parse

    wanted = parse(target)
    if not dry_run:
        engines.require(engine, wanted)  # type: ignore[arg-type]
    request = driver.Request(
        target=wanted,
        lock=lock.make(toolchain.choose(wanted, _choices.collect(choices))),
        engine=engine,  # type: ignore[arg-type]
        tree=tree,
        downloads=Source(mirror=mirror, index=index, folder=folder, offline=offline),
        options=Options(
            jobs=jobs or 0,
            offline=offline,
            disk_cache=str(Path(disk_cache).absolute()) if disk_cache else "",
            remote_cache=remote_cache,
            remote_executor=remote_executor,
            mirror=mirror,
            index=index or os.environ.get("TFENV_INDEX", ""),
            base_image=base_image,
            choices=_choices.given(choices),
        ),
        fresh=fresh,
    )
    if dry_run:
        click.echo(driver.rehearse(request), nl=False)
        return
    from tfenv.build.progress import shown

    with shown() as hooks:
        result = driver.build(request, hooks)
    if as_json:
        _output.json(_document(result))
    else:
        _tell(result)


def _document(result: Result) -> dict[str, object]:
    import msgspec

    document: dict[str, object] = msgspec.to_builtins(result.record)
    return {
        **document,
        "unchanged": result.unchanged,
        "findings": [msgspec.to_builtins(finding) for finding in result.findings],
        "files": [str(result.folder / product.name) for product in result.record.made],
    }


def _tell(result: Result) -> None:
    state = "nothing to do, already built" if result.unchanged else "built"
    for product in result.record.made:
        size = files.size_text(product.size)
        click.echo(f"{state}: {result.folder / product.name} ({size})")
        click.echo(f"sha256: {product.sha256}")
    if result.record.runs_on:
        click.echo(f"inspected: {result.record.runs_on}")
    if result.record.tag:
        click.echo(f"platform tag: {result.record.tag}")
    if not result.unchanged:
        click.echo(f"log and events: {result.record.run}")
