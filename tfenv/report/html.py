"""A verification as one self-contained HTML page: no other file, no address, no font is loaded."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import jinja2
import markupsafe

from tfenv.report import drawing
from tfenv.resources import templates
from tfenv.verify.result import Check, Report

STATES = ("passed", "failed", "skipped", "known")
_BARS = 40
_SLOWEST = 12
_STEPS = (0.1, 0.25, 0.5, 0.75, 1.0)
_HALF_UNIT = 0.51  # units in the last place: the bound of ops whose results are rounded correctly
_SOURCES = ("Placeholder", "Const")  # nodes that a run replaces or folds, with XLA or without


def render(report: Report) -> str:
    """The page; every text from outside is escaped."""
    loader = jinja2.FileSystemLoader(templates() / "report")
    page = jinja2.Environment(
        loader=loader, autoescape=True, undefined=jinja2.StrictUndefined, keep_trailing_newline=True
    ).get_template("report.html.j2")
    return page.render(
        report=report,
        sentence=sentence(report),
        subtitle=_subtitle(report),
        states=[{"name": name, "count": getattr(report.summary, name)} for name in STATES],
        areas=_areas(report.checks),
        failed=report.failures(),
        known=[check for check in report.checks if check.status == "known"],
        errors=_errors(report.checks),
        graphs=_graphs(report.checks),
        slowest=_slowest(report.checks),
        environment=list(_environment(report)),
    )


def _subtitle(report: Report) -> str:
    """In what the wheel was verified, and how: the part of the environment that is short."""
    found = report.environment
    words = [("Python", "python"), ("", "machine"), ("profile", "profile"), ("device", "device")]
    texts = [f"{word} {found[key]}".strip() for word, key in words if found.get(key)]
    return " · ".join([*texts, f"{report.seconds:.0f} s in all"])


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


def _measured(checks: list[Check]) -> list[tuple[str, float, float, str, str]]:
    """(check, error, bound, unit, status) of every check with an error, nearest to it first."""
    found = []
    for check in checks:
        data = check.data or {}
        error, bound = _number(data.get("error")), _number(data.get("bound"))
        if error is not None and bound:
            found.append((check.id, error, bound, str(data.get("unit", "")), check.status))
    return sorted(found, key=lambda item: item[1] / item[2], reverse=True)


def _errors(checks: list[Check]) -> dict[str, Any] | None:
    """How many checks are how near to their bounds; the nearest ones, and the others."""
    found = _measured(checks)
    if not found:
        return None
    # A result that is rounded correctly may be off by half a unit: at the bound, and no news.
    news = [item for item in found if item[1] > item[2] or not _as_rounded(item)]
    return {
        "count": len(found),
        "spread": _safe(drawing.counts(_spread(found))),
        "nearest": _safe(drawing.error_bars(news[:_BARS])),
        "rounded": len(found) - len(news),
        "others": _safe(drawing.error_bars(news[_BARS:])),
        "more": max(0, len(news) - _BARS),
    }


def _as_rounded(item: tuple[str, float, float, str, str]) -> bool:
    return item[2] <= _HALF_UNIT and item[3].lower().startswith("ulp")


def _spread(found: list[tuple[str, float, float, str, str]]) -> list[tuple[str, int]]:
    parts = [error / bound for _, error, bound, _, _ in found]
    rows = [("exact", sum(part == 0 for part in parts))]
    low = 0.0
    for high in _STEPS:
        rows.append((f"up to {high:g} of the bound", sum(low < part <= high for part in parts)))
        low = high
    return [*rows, ("over the bound", sum(part > low for part in parts))]


def _number(value: object) -> float | None:
    if isinstance(value, int | float) and math.isfinite(value) and value >= 0:
        return float(value)
    return None


def _graphs(checks: list[Check]) -> markupsafe.Markup | None:
    for check in checks:
        data = check.data or {}
        before, after = data.get("before"), data.get("after")
        if isinstance(before, list) and isinstance(after, list):
            left = {node["name"] for node in after}
            gone = {n["name"] for n in before if n["op"] not in _SOURCES} - left
            return _safe(drawing.graph(before, "as written", gone) + drawing.graph(after, "as run"))
    return None


def _areas(checks: list[Check]) -> list[dict[str, Any]]:
    """One row per area: how its checks ended, and how long they took."""
    rows: dict[str, dict[str, Any]] = {}
    for check in checks:
        row = rows.setdefault(
            check.suite, {"name": check.suite, "seconds": 0.0} | dict.fromkeys(STATES, 0)
        )
        row[check.status] += 1
        row["seconds"] += check.seconds
    return list(rows.values())


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
