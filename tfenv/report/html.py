"""A verification as one self-contained HTML page: no other file, no address, no font is loaded."""

from __future__ import annotations

import math
from collections.abc import Iterator

import jinja2
import markupsafe

from tfenv.report import drawing
from tfenv.resources import templates
from tfenv.verify.result import Check, Report

_BARS = 60
_SLOWEST = 12


def render(report: Report) -> str:
    """The page; every text from outside is escaped."""
    loader = jinja2.FileSystemLoader(templates() / "report")
    page = jinja2.Environment(
        loader=loader, autoescape=True, undefined=jinja2.StrictUndefined, keep_trailing_newline=True
    ).get_template("report.html.j2")
    return page.render(
        report=report,
        sentence=sentence(report),
        states=[
            {"name": name, "count": getattr(report.summary, name)}
            for name in ("passed", "failed", "skipped", "known")
        ],
        areas=sorted({check.suite for check in report.checks}),
        errors=_errors(report.checks),
        graphs=_graphs(report.checks),
        slowest=_slowest(report.checks),
        environment=list(_environment(report)),
    )


def sentence(report: Report) -> str:
    """What came out, as a sentence."""
    s = report.summary
    if not s.passed:
        return "Nothing was verified: no check passed."
    said = f"{s.passed} checks passed"
    if s.failed:
        names = ", ".join(check.id for check in report.failures()[:3])
        more = f" and {s.failed - 3} more" if s.failed > 3 else ""
        said = f"Not right: {s.failed} of {s.passed + s.failed} checks failed: {names}{more}"
    rest = [f"{n} {word}" for n, word in ((s.skipped, "skipped"), (s.known, "known defects")) if n]
    return said + (f"; {', '.join(rest)}" if rest else "") + "."


def _errors(checks: list[Check]) -> markupsafe.Markup | None:
    """The checks nearest to their bounds, or over them."""
    found = []
    for check in checks:
        data = check.data or {}
        error, bound = _number(data.get("error")), _number(data.get("bound"))
        if error is not None and bound:
            found.append((check.id, error, bound))
    found.sort(key=lambda item: item[1] / item[2], reverse=True)
    return _safe(drawing.error_bars(found[:_BARS])) if found else None


def _number(value: object) -> float | None:
    if isinstance(value, int | float) and math.isfinite(value) and value >= 0:
        return float(value)
    return None


def _graphs(checks: list[Check]) -> markupsafe.Markup | None:
    for check in checks:
        data = check.data or {}
        before, after = data.get("before"), data.get("after")
        if isinstance(before, list) and isinstance(after, list):
            return _safe(drawing.graph(before, "as written") + drawing.graph(after, "as run"))
    return None


def _slowest(checks: list[Check]) -> markupsafe.Markup:
    found = sorted(((c.id, c.seconds) for c in checks), key=lambda item: item[1], reverse=True)
    return _safe(drawing.time_bars(found[:_SLOWEST]))


def _safe(svg: str) -> markupsafe.Markup:
    # drawing escapes every text that it is given.
    return markupsafe.Markup(svg)  # noqa: S704


def _environment(report: Report) -> Iterator[tuple[str, str]]:
    for key, value in report.environment.items():
        if isinstance(value, dict):
            text = ", ".join(f"{name} {item}" for name, item in sorted(value.items()))
            yield key, text
        else:
            yield key, str(value)
