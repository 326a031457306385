"""`tfenv audit`: are two wheels, folders or images the same, and if not, where and why."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from tfenv.cli import _output

if TYPE_CHECKING:
    from collections.abc import Callable

    from tfenv.audit.declared import Change
    from tfenv.audit.model import Audit


@click.command("audit", context_settings={"ignore_unknown_options": True, "allow_extra_args": True})
@click.argument("a")
@click.argument("b", required=False)
@click.option("--quick", is_flag=True, help="Read only the two RECORDs, and trust them.")
@click.option("--strict", is_flag=True, help="Use no normaliser: every byte counts.")
@click.option("--without", default="", help="Normalisers to leave out, separated by commas.")
@click.option(
    "--twice",
    is_flag=True,
    help="A is a target: build it twice in varied surroundings and compare the two. Options that "
    "audit does not have are handed to `tfenv build`; the engine is the host unless named.",
)
@click.option(
    "--released",
    is_flag=True,
    help="With --twice: show also how the first build differs from the published wheel. This has "
    "no effect on the verdict.",
)
@click.option(
    "--diffoscope",
    "member",
    default="",
    metavar="MEMBER",
    help="Hand this member of both sides to diffoscope, and do nothing else.",
)
@click.option(
    "--declare",
    "declared",
    multiple=True,
    metavar="WHAT",
    help="What is meant to differ: version=OLD:NEW, or a file as --draft writes it.",
)
@click.option(
    "--draft",
    type=click.Path(path_type=Path),
    help="Write the differing lines of texts here, for --declare once you have read them.",
)
@click.option("--html", type=click.Path(path_type=Path), help="Write a page for people here.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@click.pass_context
def command(
    context: click.Context,
    a: str,
    b: str | None,
    quick: bool,
    strict: bool,
    without: str,
    twice: bool,
    released: bool,
    member: str,
    declared: tuple[str, ...],
    draft: Path | None,
    html: Path | None,
    as_json: bool,
) -> None:
    """Compare A with B: wheels, folders, or OCI image layouts. Exit 1 when they are different.

    `released:TARGET` stands for the wheel that was published.
    """
    from tfenv.audit import declared as declarations
    from tfenv.audit import show

    if member and b:
        from tfenv.audit import external

        context.exit(external.diffoscope(_path(a), _path(b), member))
    names = _names(strict=strict, without=without)
    declaration = declarations.parse(declared)
    drafted: list[declarations.Change] = []
    if twice:
        rest = [text for text in (b, *context.args) if text]
        result = _twice(a, rest, names, released=released)
    elif b is None or context.args:
        raise click.UsageError("give A and B, two files or folders")
    elif quick and (declared or draft):
        raise click.UsageError("--quick reads no content, so that nothing can be declared of it")
    elif quick:
        from tfenv.audit import quick as quickly

        result = quickly.quick(_path(a), _path(b))
    else:
        from tfenv.audit import compare

        result = compare.audit(_path(a), _path(b), names, declaration, drafted)
    if draft:
        _write_draft(draft, result, drafted)
    if html:
        from tfenv import files

        files.write_text(html, show.as_html(result))
    if as_json:
        _output.json(result)
    else:
        click.echo(show.as_text(result))
    if result.verdict == "different":
        context.exit(1)


def _path(text: str) -> Path:
    """A file or folder, or the published wheel of a target."""
    if not text.startswith("released:"):
        return Path(text)
    from tfenv.audit import released

    folder = Path.cwd() / ".tfenv" / "audit" / "released"
    return released.fetch(text.removeprefix("released:"), folder)


def _names(*, strict: bool, without: str) -> list[str]:
    from tfenv.audit import normalise

    left_out = {name.strip() for name in without.split(",") if name.strip()}
    if unknown := left_out - set(normalise.NAMES):
        raise click.UsageError(
            f"no normaliser is called {', '.join(sorted(unknown))}; "
            f"there are {', '.join(normalise.NAMES)}"
        )
    return [] if strict else [name for name in normalise.NAMES if name not in left_out]


def _write_draft(path: Path, result: Audit, changes: list[Change]) -> None:
    from tfenv import files
    from tfenv.audit.declared import Declaration, render

    one, two = result.a.version, result.b.version
    version = (one, two) if one != two and one and two else None
    files.write_text(path, render(Declaration(version=version, change=changes)))


def _twice(target: str, arguments: list[str], names: list[str], *, released: bool) -> Audit:
    from tfenv import target as targets
    from tfenv.audit import compare, rebuild

    name = targets.parse(target).name
    folder = Path.cwd() / ".tfenv" / "audit" / name
    say = lambda text: click.echo(text, err=True)  # noqa: E731
    one, two = rebuild.twice(name, arguments, folder, say)
    result = compare.audit(one, two, names)
    result.varied = rebuild.varied(rebuild.engine_of(arguments))
    if released:
        result.released = _against_released(name, one, names, say)
    return result


def _against_released(
    target: str, built: Path, names: list[str], say: Callable[[str], None]
) -> Audit | None:
    """A build against the published wheel; None, and said why, where that cannot be had."""
    from tfenv.audit import compare
    from tfenv.errors import DownloadError, UsageError

    try:
        return compare.audit(built, _path(f"released:{target}"), names)
    except (DownloadError, UsageError) as error:
        say(f"not compared with the published wheel: {error.what}: {error.why}")
        return None
