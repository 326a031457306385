"""A verification on a terminal: progress as it goes, and the table at its end."""

from __future__ import annotations

import msgspec
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from tfenv.errors import one_line
from tfenv.verify.compare import Comparison
from tfenv.verify.result import Check, Report

_STYLE = {"passed": "green", "failed": "bold red", "skipped": "yellow", "known": "magenta"}


class Progress:
    """Results as they come: one line each, but of a check with many cases only the first and what
    is not right."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.seen: set[str] = set()

    def __call__(self, check: Check) -> None:
        """Show one result."""
        name, bracket, _ = check.id.partition("[")
        if bracket and check.status in ("passed", "skipped"):
            if name in self.seen:
                return
            self.seen.add(name)
            check = msgspec.structs.replace(check, id=f"{name}[…]")
        line(self.console, check)


def line(console: Console, check: Check) -> None:
    """One result."""
    state = f"[{_STYLE[check.status]}]{check.status:7}[/]"
    text = f"{state} {escape(check.id)} [dim]{escape(one_line(check.detail)[:160])}[/]"
    console.print(text, highlight=False, soft_wrap=not console.is_terminal)


def show(console: Console, report: Report) -> None:
    """First line: what was verified and what was not; then what is not right."""
    console.print(escape(report.headline()), style="bold", highlight=False, soft_wrap=True)
    console.print(_areas(report))
    for check in report.checks:
        if check.status in ("failed", "known"):
            line(console, check)
    verdict = "right" if report.right else "NOT right"
    cost = f"in {report.seconds:.0f} s"
    if report.peak_bytes:
        cost += f", the largest process took {report.peak_bytes >> 20} MiB"
    console.print(f"{escape(report.target)}: {verdict}, {cost}", highlight=False)


def _areas(report: Report) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("area")
    for state, style in _STYLE.items():
        table.add_column(state, justify="right", style=style)
    table.add_column("seconds", justify="right")
    for area in sorted({check.suite for check in report.checks}):
        checks = [check for check in report.checks if check.suite == area]
        counts = [str(sum(c.status == state for c in checks)) for state in _STYLE]
        table.add_row(area, *counts, f"{sum(c.seconds for c in checks):.1f}")
    return table


def show_comparison(console: Console, comparison: Comparison) -> None:
    """What changed between two reports."""
    console.print(f"{escape(comparison.before)}  →  {escape(comparison.after)}", soft_wrap=True)
    for change in sorted(comparison.changes, key=lambda change: not change.worse):
        style = "bold red" if change.worse else "green"
        arrow = f"[{style}]{change.before} → {change.after}[/]"
        detail = escape(one_line(change.detail)[:160])
        console.print(f"{arrow}  {escape(change.id)}  [dim]{detail}[/]", soft_wrap=True)
    count, worse = len(comparison.changes), sum(change.worse for change in comparison.changes)
    said = f"{count} of {count + comparison.same} checks ended differently, {worse} of them worse"
    console.print(said, highlight=False)
