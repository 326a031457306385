"""`tfenv doctor`: what stands between this machine and a target?"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tfenv.cli import _output
from tfenv.errors import EXIT_NOT_RIGHT, EXIT_OK

if TYPE_CHECKING:
    from tfenv.diagnose.doctor import Finding
    from tfenv.diagnose.machine import Probe

_COLOURS = {"error": "red", "warning": "yellow", "info": "green"}


@click.command("doctor")
@click.argument("target", default="")
@click.option(
    "--wheel", type=click.Path(path_type=Path), metavar="FILE", help="Compare with this wheel."
)
@click.option(
    "--probe", type=click.Path(path_type=Path), metavar="FILE", help="Diagnose a saved probe."
)
@click.option(
    "--save", type=click.Path(path_type=Path), metavar="FILE", help="Write an anonymised probe."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(
    target: str, wheel: Path | None, probe: Path | None, save: Path | None, as_json: bool
) -> None:
    """Look at this machine (or a saved probe) and compare it with TARGET, a wheel, or the
    TensorFlow that is installed.

    Exits with 1 if something of severity `error` was found.
    """
    from tfenv.diagnose import doctor, machine
    from tfenv.target import parse

    wanted = parse(target) if target else None
    seen = machine.load(probe) if probe else _this_machine()
    if wheel:
        seen = _with_wheel(seen, wheel)
    if save:
        _save(seen, save)
    found = doctor.findings(
        seen, wanted.version if wanted else "", target_cuda=wanted.cuda if wanted else None
    )
    if as_json:
        _output.json({"findings": found, "target": target, "probe": probe.name if probe else ""})
    else:
        _show(found)
    sys.exit(EXIT_NOT_RIGHT if any(f.severity == "error" for f in found) else EXIT_OK)


def _this_machine() -> Probe:
    from tfenv.diagnose.probe import this_machine

    return this_machine()


def _with_wheel(probe: Probe, wheel: Path) -> Probe:
    """The probe as if this wheel were installed."""
    import msgspec

    from tfenv.diagnose.machine import TensorFlow
    from tfenv.wheel.inspect import inspect

    known = inspect(wheel)
    cuda = known.cuda
    build = TensorFlow(
        version=known.version,
        distribution=known.name,
        installed_from="wheel",
        is_cuda_build=cuda is not None,
        build_cuda=cuda.version if cuda else None,
        build_cudnn=cuda.cudnn if cuda else None,
        build_compute_capabilities=[*cuda.sass, *cuda.ptx] if cuda else None,
    )
    return msgspec.structs.replace(probe, tensorflow=build)


def _save(probe: Probe, path: Path) -> None:
    from tfenv.diagnose import anonymise, machine
    from tfenv.files import write_text

    write_text(path, anonymise.clean(machine.render(probe)))


def _show(found: list[Finding]) -> None:
    from tfenv.cli.explain import language
    from tfenv.diagnose.signatures import messages

    table = messages(language())
    for finding in found:
        word = table.get(finding.severity, finding.severity)
        click.secho(f"{word}: {finding.code}", fg=_COLOURS[finding.severity], bold=True)
        click.echo(f"  {finding.detail}")
        if finding.fix != "nothing to do":
            click.echo(f"  {table.get('fix', 'fix')}: {finding.fix}")
    if not found:
        click.echo(table.get("nothing to report", "nothing to report"))
