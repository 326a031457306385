"""A verification as one self-contained HTML page."""

from __future__ import annotations

from html import escape

from tfenv.verify.result import Check, Report

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<h1>{title}</h1>
<p class="{verdict}">{headline}</p>
<table>
<thead><tr><th>check</th><th>status</th><th>detail</th><th>s</th></tr></thead>
<tbody>
{rows}
</tbody>
</table>
</body>
</html>
"""
_STYLE = """
:root { color-scheme: light dark; font: 15px/1.45 system-ui, sans-serif; }
body { margin: 1rem auto; max-width: 70rem; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; }
td, th { padding: .2rem .5rem; text-align: left; vertical-align: top; overflow-wrap: anywhere; }
"""


def render(report: Report) -> str:
    """The page; every text from outside is escaped."""
    return _PAGE.format(
        title=escape(f"{report.target} verified"),
        style=_STYLE,
        verdict="right" if report.right else "wrong",
        headline=escape(report.headline()),
        rows="\n".join(_row(check) for check in report.checks),
    )


def _row(check: Check) -> str:
    cells = (check.id, check.status, check.detail, f"{check.seconds:.2f}")
    return (
        f'<tr class="{check.status}">' + "".join(f"<td>{escape(c)}</td>" for c in cells) + "</tr>"
    )
