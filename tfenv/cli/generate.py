"""`tfenv generate`: write environments."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tfenv.cli import _choices, _output

if TYPE_CHECKING:
    from tfenv.render import OutFile, Plan


@click.command("generate")
@click.argument("targets", nargs=-1, required=True, metavar="TARGET...")
@click.option("--format", "formats", default="", help="Formats, separated by commas; default: all.")
@click.option("--purpose", type=click.Choice(["build", "run"]), help="Default: both.")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    default=Path("environments"),
    show_default=True,
    help="The folder that gets one folder per target.",
)
@click.option("--mirror", default="", help="A mirror's name, or kind=name,kind=ADDRESS,...")
@click.option(
    "--nixpkgs-path",
    default="",
    metavar="FOLDER",
    help="Flakes take nixpkgs from this absolute path, checked by the locked hash.",
)
@click.option("--lock", "lock_file", type=click.Path(path_type=Path), help="Render this lock.")
@click.option("--strict", is_flag=True, help="Refuse downloads whose hash is not known.")
@click.option("--check", is_flag=True, help="Write nothing; exit 1 and a diff if files differ.")
@_choices.choices
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(
    targets: tuple[str, ...],
    formats: str,
    purpose: str | None,
    output: Path,
    mirror: str,
    nixpkgs_path: str,
    lock_file: Path | None,
    strict: bool,
    check: bool,
    as_json: bool,
    **options: str,
) -> None:
    """Write pinned environments for each TARGET; nothing is downloaded."""
    from tfenv import render
    from tfenv.lock import compiled

    documents = []
    wrong = False
    for name in targets:
        plan = _with_nixpkgs(_plan(name, lock_file, mirror, options), nixpkgs_path)
        wanted, files = _files(plan, formats, (purpose,) if purpose else render.PURPOSES)
        if nixpkgs_path and "nix" not in wanted:
            _refuse_nixpkgs(plan, wanted)
        if strict:
            render.refuse_unpinned(plan.lock, wanted)
        folder = output / plan.target.name
        if check:
            wrong |= _check(folder, files, quiet=as_json)
        else:
            _write(folder, files)
        documents.append(_document(plan, files))
        if not as_json and not check:
            click.echo(f"{folder}: {len(files)} files ({', '.join(wanted)})")
            for sentence in compiled.sentences(plan.lock):
                click.echo(f"  {sentence}", err=True)
    if as_json:
        _output.json(documents[0] if len(documents) == 1 else documents)
    raise SystemExit(1 if wrong else 0)


def _plan(name: str, lock_file: Path | None, mirror: str, options: dict[str, str]) -> Plan:
    from tfenv import lock, toolchain
    from tfenv.errors import UsageError
    from tfenv.render import mirrors
    from tfenv.render import plan as plans
    from tfenv.target import parse

    target = parse(name)
    places = mirrors.parse(mirror)
    choices = _choices.collect(options)
    if lock_file is None:
        return plans.make(lock.make(toolchain.choose(target, choices)), places)
    if choices.given():
        raise UsageError(
            "--lock and choices such as --" + next(iter(choices.given())) + " do not go together",
            "a lock holds its choices already",
            f"run `tfenv lock {target.name} -o DIR` with the choices, then generate from its lock",
        )
    locked = lock.load(lock_file)
    if locked.target != target.name:
        raise UsageError(
            f"{lock_file.name} is the lock of {locked.target}, not of {target.name}",
            "a lock is for one target",
            f"tfenv generate {locked.target} --lock {lock_file}",
        )
    return plans.make(locked, places, lock_file.parent)


def _with_nixpkgs(plan: Plan, folder: str) -> Plan:
    import msgspec

    from tfenv.render import safety

    if not folder:
        return plan
    path = safety.folder(folder.rstrip("/"), "--nixpkgs-path")
    return msgspec.structs.replace(plan, nixpkgs_path=path)


def _refuse_nixpkgs(plan: Plan, wanted: tuple[str, ...]) -> None:
    from tfenv.errors import UsageError

    table = plan.lock.formats.get("nix", {})
    why = table["unavailable"].reason if "unavailable" in table else "--format leaves nix out"
    raise UsageError(
        f"--nixpkgs-path has no effect on {plan.target.name}: no flake is written",
        why,
        f"leave it out, or choose a target with a flake (written here: {', '.join(wanted)})",
    )


def _files(
    plan: Plan, formats: str, purposes: tuple[str, ...]
) -> tuple[tuple[str, ...], list[OutFile]]:
    from tfenv import render

    if not formats:
        return render.render_all(plan, purposes)
    wanted = tuple(part.strip() for part in formats.split(",") if part.strip())
    return wanted, render.render(plan, wanted, purposes)


def _write(folder: Path, files: list[OutFile]) -> None:
    from tfenv.files import write_text

    for file in files:
        write_text(folder / file.path, file.text, executable=file.executable)


def _check(folder: Path, files: list[OutFile], *, quiet: bool) -> bool:
    """Whether a file on the disk is missing or differs; prints the difference."""
    wrong = False
    for file in files:
        path = folder / file.path
        try:
            # newline="": a changed line end is a difference too
            with path.open(encoding="utf-8", newline="") as stream:
                old = stream.read()
        except (OSError, UnicodeDecodeError):
            old = ""
        if old == file.text:
            continue
        wrong = True
        if not quiet:
            lines = difflib.unified_diff(
                old.splitlines(keepends=True),
                file.text.splitlines(keepends=True),
                f"{path} (on disk)",
                f"{path} (generated)",
            )
            click.echo("".join(lines) or f"{path}: differs in line ends", nl=False)
    return wrong


def _document(plan: Plan, files: list[OutFile]) -> dict[str, object]:
    from tfenv.files import sha256_bytes

    return {
        "target": plan.target.name,
        "files": [
            {
                "path": file.path,
                "format": file.format,
                "purpose": file.purpose,
                "sha256": sha256_bytes(file.text.encode()),
            }
            for file in files
        ],
    }
