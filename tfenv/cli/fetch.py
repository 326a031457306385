"""`tfenv fetch`: download and verify all that a build needs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from tfenv import files
from tfenv.cli import _choices, _output

if TYPE_CHECKING:
    from tfenv.fetch.stage import Fetched


@click.command("fetch")
@click.argument("targets", nargs=-1, required=True, metavar="TARGET...")
@click.option("--mirror", default="", help="A mirror's name, or kind=name,kind=ADDRESS,...")
@click.option("--index", default="", help="The Python package index to download from.")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, file_okay=False),
    help="Also write a portable folder, for --from on another machine.",
)
@click.option(
    "--from",
    "folder",
    type=click.Path(path_type=Path),
    help="Take files from this folder first: one of -o, or any folder of downloads.",
)
@click.option(
    "--source",
    "tree",
    type=click.Path(path_type=Path, file_okay=False),
    help="Fetch for this source tree instead of the release's archive.",
)
@click.option("--offline", is_flag=True, help="Do not use the network.")
@_choices.choices
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def command(
    targets: tuple[str, ...],
    mirror: str,
    index: str,
    output: Path | None,
    folder: Path | None,
    tree: Path | None,
    offline: bool,
    as_json: bool,
    **choices: str,
) -> None:
    """Download and verify everything that TARGET's lock names, in parallel, into the cache.

    What has arrived is kept when the command is interrupted: run it again to go on.
    """
    from tfenv import lock, toolchain
    from tfenv.build.source import from_folder
    from tfenv.fetch import folder as portable
    from tfenv.fetch import stage
    from tfenv.fetch.cache import Cache
    from tfenv.target import parse

    cache = Cache()
    wanted = [parse(name) for name in targets]
    if tree is not None and len(wanted) > 1:
        raise click.UsageError("--source is for one TARGET")
    if tree is not None:
        tree = from_folder(tree, wanted[0]).path
    locks = [lock.make(toolchain.choose(one, _choices.collect(choices))) for one in wanted]
    source = stage.Source(mirror=mirror, index=index, folder=folder, offline=offline)
    fetched = stage.fetch_locks(locks, source, cache, tree)
    if output is not None:
        portable.write(output, fetched.outcomes, [one.name for one in wanted])
        for one in locks:
            portable.write_lock(output, one, fetched.externals)
    if as_json:
        _output.json(_document([one.name for one in wanted], fetched))
    else:
        _tell(fetched, cache.root, output)


def _document(names: list[str], fetched: Fetched) -> dict[str, object]:
    return {
        "targets": names,
        "bytes": fetched.bytes,
        "files": [
            {
                "name": outcome.item.name,
                "kind": outcome.item.kind,
                "version": outcome.item.version,
                "sha256": outcome.item.sha256,
                "status": outcome.status,
                "path": str(outcome.path),
                "url": outcome.url,
                "attempts": [
                    {"url": attempt.url, "problem": attempt.problem} for attempt in outcome.attempts
                ],
            }
            for outcome in fetched.outcomes
        ],
        "left_out": [
            {"name": one.name, "kind": one.kind, "version": one.version, "reason": _reason(one)}
            for one in fetched.left_out
        ],
        "unread": fetched.unread,
    }


def _tell(fetched: Fetched, root: Path, output: Path | None) -> None:
    new = sum(outcome.status != "cached" for outcome in fetched.outcomes)
    total = len(fetched.outcomes)
    click.echo(
        f"{total} files, {files.size_text(fetched.bytes)}, all verified: {new} new, in {root}"
    )
    for one in fetched.left_out:
        click.echo(f"not fetched: {one.kind} {one.name} {one.version}: {_reason(one)}")
    for line in fetched.unread:
        click.echo(f"not known: {line}")
    if output is not None:
        click.echo(f"portable folder: {output} (use it with --offline --from {output})")


def _reason(artifact: object) -> str:
    from tfenv.lock.model import Artifact

    assert isinstance(artifact, Artifact)
    if artifact.unpinned:
        return f"nothing could verify it ({artifact.unpinned})"
    if artifact.digest or artifact.nar_hash:
        return "its own tool fetches it by digest"
    return "the lock has no address for it"
