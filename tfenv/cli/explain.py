"""`tfenv explain`: why did this build or import fail?"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import click

from tfenv.cli import _output
from tfenv.errors import EXIT_NOT_RIGHT, EXIT_OK, UsageError

if TYPE_CHECKING:
    from tfenv.diagnose.model import Evidence, Explanation


@click.command("explain")
@click.argument("log", default="-", metavar="[LOG|-]")
@click.option("--target", default="", metavar="T", help="Give the fix for this target's pins.")
@click.option("--all", "show_all", is_flag=True, help="Show consequences and harmless lines too.")
@click.option("--new-case", default="", metavar="FILE", help="Write an anonymised test case.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(log: str, target: str, show_all: bool, new_case: str, as_json: bool) -> None:
    """Find the root cause in LOG (or standard input), and say what to do.

    Exits with 0 for a log without a failure, with 1 where it found one.
    """
    from tfenv.diagnose.explain import NONE, explain_stream
    from tfenv.target import parse

    wanted = parse(target) if target else None
    with _open(log) as stream:
        answer = explain_stream(stream, wanted, language())
    if new_case:
        _write_case(log, Path(new_case), answer)
    if as_json:
        _output.json(answer)
    else:
        _show(answer, show_all)
    sys.exit(EXIT_OK if answer.root_cause == NONE else EXIT_NOT_RIGHT)


def language() -> str:
    """The language of messages: TFENV_LANG where a translation exists, else English."""
    from tfenv.diagnose.signatures import languages

    wanted = (
        os.environ.get("TFENV_LANG", "en").replace("-", "_").split(".")[0].split("_")[0].lower()
    )
    return wanted if wanted in languages() else "en"


def _open(log: str) -> BinaryIO:
    if log == "-":
        return sys.stdin.buffer
    try:
        return Path(log).open("rb")
    except OSError as error:
        raise UsageError(
            f"the log {log} cannot be read",
            error.strerror or str(error),
            "name a log file, or - for standard input",
        ) from error


def _write_case(log: str, path: Path, answer: Explanation) -> None:
    from tfenv.diagnose.newcase import render
    from tfenv.files import write_text

    if log == "-":
        raise UsageError(
            "--new-case needs a log file",
            "standard input is read only once",
            "save the log, then name it",
        )
    write_text(path, render(Path(log).read_bytes(), answer))


def _show(answer: Explanation, show_all: bool) -> None:
    from tfenv.diagnose.signatures import messages

    table = messages(language())

    def say(text: str) -> str:
        return table.get(text, text)

    click.secho(f"{answer.title}  ({answer.root_cause}, {say(answer.confidence)})", bold=True)
    if answer.evidence:
        _show_evidence(answer.evidence, say("line"))
    click.echo(f"{say('why')}: {answer.why}" if answer.root_cause != "unknown" else answer.cause)
    for step in answer.fix:
        click.echo(f"  {say('fix')}: {step}")
    for doubt in answer.undecided:
        click.echo(f"{say('or')} {doubt.root_cause}: {say('decided by')} {doubt.decided_by}")
    if answer.source:
        click.echo(f"{say('source')}: {answer.source}")
    for other in answer.others:
        if show_all or other.relation == "also":
            where = f"{say('line')} {other.evidence.line}"
            click.echo(f"{say(other.relation)}: {other.root_cause} ({where})")
    if show_all:
        for remark in answer.harmless:
            click.echo(f"{say('harmless')}: {say(remark)}")


def _show_evidence(evidence: Evidence, word: str) -> None:
    for text in evidence.before:
        click.echo(f"      | {text[:200]}")
    click.secho(f"  {word} {evidence.line}: {evidence.text[:400]}", fg="red")
    for text in evidence.after[:2]:
        click.echo(f"      | {text[:200]}")
