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
    click.echo(f"{len(entries)} targets", err=True)


def _matching(*filters: str) -> list[Entry]:
    from tfenv.toolchain import catalogue

    return catalogue.matching(catalogue.Filter(*filters))
