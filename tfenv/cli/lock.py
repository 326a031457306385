"""`tfenv lock`: resolve what a lock pins, and show the difference."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from tfenv.cli import _choices, _output

if TYPE_CHECKING:
    from tfenv.lock.model import Lock
    from tfenv.lock.python import Answer
    from tfenv.target import Target
    from tfenv.toolchain.model import Choices


@click.command("lock")
@click.argument("targets", nargs=-1, required=True, metavar="TARGET...")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Write the locks there.")
@click.option("--check", is_flag=True, help="Write nothing; exit 1 if anything differs.")
@click.option("--update", is_flag=True, help="Write into the locks that ship with this checkout.")
@click.option("--index", default="", help="The package index to resolve against.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["python", "conda"]),
    default="python",
    show_default=True,
    help="What to resolve: the Python packages, or the conda environments.",
)
@click.option("--mirror", default="", help="conda: a mirror's name, or conda=ADDRESS.")
@click.option("--channel", "channels", multiple=True, help="conda: a channel instead, by URL.")
@_choices.choices
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(
    targets: tuple[str, ...],
    output: Path | None,
    check: bool,
    update: bool,
    index: str,
    form: str,
    mirror: str,
    channels: tuple[str, ...],
    as_json: bool,
    **options: str,
) -> None:
    """Resolve the Python part of each TARGET again, as the index stood at its release; or solve its
    conda environments against a channel."""
    from tfenv.errors import UsageError
    from tfenv.target import parse

    if sum((output is not None, check, update)) > 1:
        raise UsageError(
            "-o, --check and --update do not go together",
            "one writes elsewhere, one writes nothing, one writes into the checkout",
            "choose one of them",
        )
    choices = _choices.collect(options)
    if form == "conda":
        _conda(targets, choices, mirror, channels, output, as_json=as_json)
        return
    documents = []
    for name in targets:
        target = parse(name)
        locked, answer = resolve(target, choices, index)
        changes = _changes(answer)
        documents.append({"target": target.name, "python": answer.stem, "changes": changes})
        if not as_json:
            _tell(target, answer, changes)
        if output is not None:
            _write(output, locked, answer, as_json=as_json)
        if update:
            _ship(target, locked, answer)
    if as_json:
        _output.json(documents[0] if len(documents) == 1 else documents)
    differs = any(document["changes"] for document in documents)
    raise SystemExit(1 if check and differs else 0)


def _conda(
    targets: tuple[str, ...],
    choices: Choices,
    mirror: str,
    channels: tuple[str, ...],
    output: Path | None,
    *,
    as_json: bool,
) -> None:
    from tfenv.cli import _lock_conda
    from tfenv.target import parse

    documents = [
        _lock_conda.lock_conda(parse(name), choices, mirror, channels, output) for name in targets
    ]
    if as_json:
        _output.json(documents[0] if len(documents) == 1 else documents)
        return
    for document in documents:
        for line in _lock_conda.tell(document):
            click.echo(line)


def resolve(target: Target, choices: Choices, index: str) -> tuple[Lock, Answer]:
    """Ask the index, and make the lock from its answer."""
    import msgspec

    from tfenv import lock, toolchain
    from tfenv.facts.pinned import parse
    from tfenv.lock import python
    from tfenv.toolchain.python import python as choose_python
    from tfenv.verify.index import variables

    version = choose_python(target, choices).value
    place = variables(index).get("UV_DEFAULT_INDEX", "")
    answer = python.lock(target, version, place, choices.numpy, _interpreter(version))
    free = msgspec.structs.replace(choices, numpy="")
    file = f"{answer.stem}.txt"
    chain = toolchain.choose(target, free, (file, parse(answer.text, file)))
    return lock.make(chain, lock.PythonFiles(file, answer.text, answer.build_text)), answer


def _interpreter(version: str) -> str:
    """That Python, if it is here: old source distributions tell their metadata to no other."""
    from tfenv.errors import EnvironmentFailedError
    from tfenv.verify.interpreter import find

    try:
        return str(find([version]).path)
    except EnvironmentFailedError:
        return ""


def _changes(answer: Answer) -> list[str]:
    from tfenv.facts.pinned import shipped
    from tfenv.lock.python import differences

    changes: list[str] = []
    for name, text in answer.files().items():
        old = shipped(name)
        if old is None:
            changes.append(f"{name}: new")
        elif old != text:
            changes += differences(old, text) or [f"{name}: only the header differs"]
    return changes


def _tell(target: Target, answer: Answer, changes: list[str]) -> None:
    click.echo(f"{target.name}: {answer.stem}")
    for line in changes:
        click.echo(f"  {line}")
    if not changes:
        click.echo("  as shipped")


def _write(folder: Path, locked: Lock, answer: Answer, *, as_json: bool) -> None:
    from tfenv.files import write_text
    from tfenv.lock import dumps, python

    python.write(answer, folder)
    path = folder / f"{locked.target}.lock.toml"
    write_text(path, dumps(locked))
    if not as_json:
        click.echo(f"  written: {path}")


def _ship(target: Target, locked: Lock, answer: Answer) -> None:
    import tfenv
    from tfenv.files import write_text
    from tfenv.lock import dumps, python, shipped

    locks = Path(tfenv.__file__).parent / "locks"
    python.write(answer, locks / "python")
    if shipped(target.name) is not None:
        write_text(locks / "targets" / f"{target.name}.lock.toml", dumps(locked))
