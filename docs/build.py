"""Write the reference pages that are made from the code: `./noxw -s docs`.

`--check` writes nothing and exits 1 if a committed page is not what would be written.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from tfenv import cli, errors
from tfenv.audit import normalise
from tfenv.files import write_text
from tfenv.report import schemas

HERE = Path(__file__).resolve().parent
CODES = {
    1: "done, and what was checked is not right",
    2: "wrong usage",
    3: "no toolchain satisfies this",
    4: "a download failed or did not match its hash",
    5: "the build failed",
    6: "an engine, tool or extra is missing",
    7: "the environment could not be made",
    130: "interrupted; can be resumed",
}


def command_line() -> str:
    """Every command with its options, from click itself."""
    lines = ["# Command line", "", "Made from the code by `./noxw -s docs`.", ""]
    context = click.Context(cli.group, info_name="tfenv")
    for name in cli.COMMANDS:
        command = cli.group.get_command(context, name)
        assert command is not None
        lines += [f"## tfenv {name}", "", cli.COMMANDS[name][1], ""]
        lines += _command(command, f"tfenv {name}")
    return "\n".join(lines).rstrip() + "\n"


def _command(command: click.Command, name: str) -> Iterator[str]:
    if isinstance(command, click.Group):
        for child, inner in sorted(command.commands.items()):
            said = inspect.cleandoc(inner.help or "")
            yield from (f"### {name} {child}", "", *map(str.rstrip, said.splitlines()), "")
            yield from _command(inner, f"{name} {child}")
        return
    inner_context = click.Context(command, info_name=name)
    yield from ("```text", command.get_usage(inner_context), "```", "")
    options = [p for p in command.params if isinstance(p, click.Option)]
    if options:
        yield from ("| option | meaning |", "| --- | --- |")
    for option in options:
        record = option.get_help_record(inner_context)
        if record is not None:
            flag, text = (part.replace("|", "\\|") for part in record)
            yield f"| `{flag}` | {' '.join(text.split())} |"
    yield ""


def failures() -> str:
    """Every way to fail, from the classes themselves."""
    lines = ["# Ways to fail", "", "Made from the code by `./noxw -s docs`.", ""]
    lines += [
        "Every failure is three lines, what happened, why, and what to do next; with `--json` it is",
        "one document `{error: {kind, what, why, fix, exit_code}}` on standard output.",
        "",
        "| exit | kind | meaning |",
        "| --- | --- | --- |",
    ]
    kinds = [
        kind
        for _, kind in inspect.getmembers(errors, inspect.isclass)
        if issubclass(kind, errors.TfenvError) and kind is not errors.TfenvError
    ]
    for kind in sorted(kinds, key=lambda k: (k.exit_code, k.kind)):
        meaning = " ".join((kind.__doc__ or "").split())
        lines.append(f"| {kind.exit_code} | `{kind.kind}` | {meaning} |")
    lines += ["", "| exit | in short |", "| --- | --- |"]
    lines += [f"| {code} | {text} |" for code, text in CODES.items()]
    return "\n".join(lines) + "\n"


def normalisers() -> str:
    """The normalisers of `tfenv audit`, in their order."""
    lines = ["# Normalisers", "", "Made from the code by `./noxw -s docs`.", ""]
    lines += [
        "`tfenv audit` says *identical after: …* when these, in this order, remove every difference.",
        "Each is a function of one side alone, and is used only where it is needed.",
        "",
        "| name | what it ignores, and why that is harmless |",
        "| --- | --- |",
    ]
    lines += [f"| `{item.name}` | {item.explanation} |" for item in normalise.REGISTRY]
    return "\n".join(lines) + "\n"


def documents() -> str:
    """What programs can read, and the schema of each."""
    lines = ["# Documents for programs", "", "Made from the code by `./noxw -s docs`.", ""]
    lines += [
        "Every command that prints results takes `--json` and prints one document on standard output,",
        "nothing else. The schemas (JSON Schema 2020-12) are in the package, in `tfenv/report/schemas`.",
        "More fields may be added; the fields of a schema stay. TOML files are meant as the values that",
        "they hold.",
        "",
        "| document | schema |",
        "| --- | --- |",
    ]
    lines += [
        f"| {found.source} | `{schemas.path(name).name}` |"
        for name, found in schemas.SCHEMAS.items()
    ]
    return "\n".join(lines) + "\n"


PAGES = {
    "reference/command-line.md": command_line,
    "reference/errors.md": failures,
    "reference/documents.md": documents,
    "reference/normalisers.md": normalisers,
}


def outputs() -> Iterator[tuple[Path, str]]:
    """Every file that is made from the code, and its text."""
    for name, page in PAGES.items():
        yield HERE / name, page()
    for name in schemas.SCHEMAS:
        yield schemas.path(name), schemas.render(name)


def main(arguments: list[str]) -> int:
    """Write the pages, or compare them."""
    wrong = []
    for path, text in outputs():
        if "--check" in arguments:
            old = path.read_text("utf-8") if path.is_file() else ""
            if old != text:
                wrong.append(path.relative_to(HERE.parent).as_posix())
        else:
            write_text(path, text)
    for name in wrong:
        sys.stderr.write(f"{name} is not what the code says; run ./noxw -s docs\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
