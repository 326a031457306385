"""`tfenv list`: the catalogue."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from tfenv.cli import _output

if TYPE_CHECKING:
    from tfenv.listing import Entry


@click.command("list")
@click.option("--tf", default="", metavar="SPEC", help="A version range, e.g. '>=2.4,<2.7' or 2.6.")
@click.option("--variant", type=click.Choice(["cpu", "cuda"]), help="Only this variant.")
@click.option("--platform", default="", help="linux, arm64, macos, macos-arm64 or windows.")
@click.option("--product", default="", help="wheel, cc, c or lite.")
@click.option("--gpu", default="", help="Only targets whose CUDA compiles for this card.")
@click.option("--python", default="", help="Only targets that support this Python.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON array.")
def command(
    tf: str,
    variant: str | None,
    platform: str,
    product: str,
    gpu: str,
    python: str,
    as_json: bool,
) -> None:
    """List targets, each with its toolchain in a line and how far it is proven."""
    from tfenv import listing

    filters = (tf, variant or "", platform, product, gpu, python)
    entries = _matching(*filters) if any(filters) else listing.read()
    if as_json:
        _output.json([entry._asdict() for entry in entries])
        return
    rows = [
        (
            e.name,
            ", ".join(e.pythons),
            e.bazel or f"cmake {e.cmake}",
            e.cuda or "-",
            e.proven or "-",
        )
        for e in entries
    ]
    _output.table(("TARGET", "PYTHON", "BAZEL/CMAKE", "CUDA", "PROVEN"), rows)
    click.echo(f"{len(entries)} targets{'' if entries else _why_none(*filters)}", err=True)


def _why_none(*filters: str) -> str:
    """Which filter to leave out, and where a card's owner reads what is left to him."""
    names = ("tf", "variant", "platform", "product", "gpu", "python")
    given = [index for index, value in enumerate(filters) if value]
    without = {
        i: len(_matching(*(v if n != i else "" for n, v in enumerate(filters)))) for i in given
    }
    helps = [f"without --{names[i]} there are {count}" for i, count in without.items() if count]
    said = f": {', '.join(helps)}" if helps else ": leave more than one of the filters out"
    if filters[4] and not _matching("", "", "", "", filters[4], ""):
        said += f"; `tfenv show T --gpu '{filters[4]}'` says what is left for that card"
    return said


def _matching(*filters: str) -> list[Entry]:
    from tfenv.toolchain import catalogue

    return catalogue.matching(catalogue.Filter(*filters))
