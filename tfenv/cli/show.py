"""`tfenv show`: one target."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from tfenv import files
from tfenv.cli import _choices, _output

if TYPE_CHECKING:
    from tfenv.lock.model import Lock
    from tfenv.target import Target
    from tfenv.toolchain.model import Toolchain


@click.command("show")
@click.argument("target")
@_choices.choices
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(target: str, as_json: bool, **options: str) -> None:
    """Show TARGET's toolchain with reasons and sources, and what will be downloaded."""
    from tfenv import lock, toolchain
    from tfenv.target import parse

    chain = toolchain.choose(parse(target), _choices.collect(options))
    locked = lock.make(chain)
    if as_json:
        _output.json(document(chain, locked))
    else:
        _show(chain, locked)


def document(chain: Toolchain, locked: Lock) -> dict[str, object]:
    """What `--json` prints."""
    import msgspec

    from tfenv.lock import compiled, sizes
    from tfenv.toolchain import catalogue

    return {
        "target": chain.target.name,
        "toolchain": locked.toolchain,
        "artifacts": [msgspec.to_builtins(a) for a in locked.artifact],
        "python": locked.python,
        "format_pins": locked.formats,
        "download_bytes": sizes.known_bytes(locked),
        "download_unknown": sizes.unknown(locked),
        "unpinned": sizes.unpinned(locked),
        "compiled": compiled.compiled(locked),
        "proven": catalogue.proofs(chain.target.name),
        "defects": catalogue.defects(chain.target),
    }


def _show(chain: Toolchain, locked: Lock) -> None:
    from tfenv.lock import compiled, sizes

    click.echo(f"{chain.target.name}: TensorFlow {chain.target.version}, {chain.target.platform}")
    click.echo("\nToolchain")
    for key, value in locked.toolchain.items():
        click.echo(f"  {key:<14}{value.value}")
        click.echo(f"{'':16}because {value.reason}")
        click.echo(f"{'':16}source  {value.source}")
    click.echo("\nDownloads")
    rows: list[tuple[str, ...]] = [
        (a.name, a.version, a.kind, _size(a.size), _mark(a.unpinned)) for a in locked.artifact
    ]
    if locked.python is not None:
        total = sizes.python_bytes(locked)
        rows.append((locked.python.file, "", "python lock", _size(total), "sha256"))
    _output.table(("NAME", "VERSION", "KIND", "SIZE", "PINNED"), rows)
    known = files.size_text(sizes.known_bytes(locked))
    rest = sizes.unknown(locked)
    click.echo(f"at least {known}" + (f"; size not known: {', '.join(rest)}" if rest else ""))
    for sentence in compiled.sentences(locked):
        click.echo(f"  {sentence}")
    _show_pins(locked)
    _show_state(chain.target)


def _show_state(target: Target) -> None:
    from tfenv.toolchain import catalogue

    click.echo("\nProven")
    proofs = catalogue.proofs(target.name)
    for proof in proofs:
        click.echo(f"  {proof.level} on {proof.date}, Python {proof.python}: {proof.evidence}")
    if not proofs:
        click.echo("  rendered: by tests/unit/test_catalogue.py, at every change; nothing beyond")
    defects = catalogue.defects(target)
    if defects:
        click.echo("\nKnown defects of the release")
    for defect in defects:
        click.echo(f"  {defect.id}: {defect.title} ({defect.reference})")


def _show_pins(locked: Lock) -> None:
    for name, table in locked.formats.items():
        click.echo(f"\nIn the format {name}")
        for key, value in table.items():
            click.echo(f"  {key:<14}{value.value}  ({value.reason})")


def _size(count: int) -> str:
    return files.size_text(count) if count else "?"


def _mark(unpinned: str) -> str:
    return f"no: {unpinned}" if unpinned else "yes"
