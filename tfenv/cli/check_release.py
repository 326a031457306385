"""`tfenv check-release`: the gate for CI."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tfenv.cli import _output

if TYPE_CHECKING:
    from tfenv.audit.gate import Gate


@click.command("check-release")
@click.argument("wheel", type=click.Path(path_type=Path), required=False)
@click.option("--policy", type=click.Path(path_type=Path), help="The rules, a TOML file.")
@click.option("--report", type=click.Path(path_type=Path), help="report.json of `tfenv verify`.")
@click.option("--junit", type=click.Path(path_type=Path), help="Write JUnit XML here.")
@click.option(
    "--workflow",
    type=click.Path(path_type=Path),
    help="Write a reusable GitHub workflow that runs this gate, and do nothing else.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def command(
    wheel: Path | None,
    policy: Path | None,
    report: Path | None,
    junit: Path | None,
    workflow: Path | None,
    as_json: bool,
) -> None:
    """Check WHEEL against a policy; exit 1 with the reasons where it does not hold.

    In GitHub Actions every broken rule is an annotation as well.
    """
    from tfenv import files

    if workflow is not None:
        from tfenv.audit import workflow as workflows

        files.write_text(workflow, workflows.render())
        click.echo(str(workflow))
        return
    if wheel is None or policy is None:
        raise click.UsageError("give a WHEEL and --policy FILE")
    from tfenv.audit import gate
    from tfenv.audit import policy as policies

    result = gate.check(wheel, policies.load(policy), policy.parent, report)
    if junit is not None:
        files.write_text(junit, _junit(result))
    if as_json:
        _output.json(result)
    else:
        click.echo(_verdict(result))
        _output.table(
            ("rule", "status", "detail"), [(r.id, r.status, r.detail) for r in result.rules]
        )
        if os.environ.get("GITHUB_ACTIONS") == "true":
            click.echo("\n".join(_annotations(result)))
    if not result.ok:
        click.get_current_context().exit(1)


def _verdict(result: Gate) -> str:
    """The answer in a sentence; a wheel's name is not trusted."""
    from tfenv.errors import one_line

    broken = [rule.id for rule in result.rules if rule.status == "failed"]
    if not broken:
        return f"{one_line(result.wheel)} may be released: all {len(result.rules)} rules hold"
    count = f"{len(broken)} of {len(result.rules)} rules do not hold"
    return f"{one_line(result.wheel)} must not be released: {count}: {', '.join(broken)}"


def _annotations(result: Gate) -> list[str]:
    """Workflow commands of GitHub Actions; data is escaped as the runner unescapes it."""
    broken = [rule for rule in result.rules if rule.status == "failed"]
    return [
        f"::error title={_property(r.id)}::{_data(f'{result.wheel}: {r.detail}')}" for r in broken
    ]


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def _junit(result: Gate) -> str:
    from tfenv.report import junit
    from tfenv.verify.result import Check, Report, summarise

    checks = [
        Check(id=rule.id, suite="release", status=rule.status, detail=rule.detail)
        for rule in result.rules
    ]
    report = Report(
        target="release",
        wheel=result.wheel,
        environment={},
        summary=summarise(checks),
        not_exercised=[],
        checks=checks,
    )
    return junit.render(report)
