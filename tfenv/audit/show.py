"""An audit for people: the terminal's text, and a page of HTML that needs nothing else."""

from __future__ import annotations

from collections import Counter
from html import escape

from tfenv.audit import normalise
from tfenv.audit.model import Audit, Side
from tfenv.errors import one_line

MAX_LINES = 200


def headline(result: Audit) -> str:
    """The verdict in one sentence."""
    if result.verdict == "identical":
        what = "identical"
    elif result.verdict == "equivalent":
        what = f"identical after: {', '.join(result.normalisers)}"
    else:
        places = Counter(item.path for item in result.differences)
        what = f"different: {len(result.differences)} differences in {len(places)} members"
        if result.normalisers:
            what += f", beyond {', '.join(result.normalisers)}"
    if result.trusted:
        what += f" (only the {result.trusted}s were read and trusted: no file was checked)"
    return what


def as_text(result: Audit) -> str:
    """The verdict, then every difference under its member, then what was explained away."""
    lines = [headline(result), f"  A: {_side(result.a)}", f"  B: {_side(result.b)}"]
    if result.varied:
        lines.append(f"  varied between the builds: {', '.join(result.varied)}")
    for item in result.differences[:MAX_LINES]:
        path = item.path or "(the archive itself)"
        lines.append(f"  {one_line(f'{item.kind}: {path}: {item.detail}')}")
        lines.append(f"      likely cause: {one_line(item.cause)}")
    if len(result.differences) > MAX_LINES:
        lines.append(f"  {len(result.differences) - MAX_LINES} more: --json has them all")
    if result.explained:
        lines.append("  explained:")
        counts = Counter(item.normaliser for item in result.explained)
        for name in result.normalisers:
            first = next(item for item in result.explained if item.normaliser == name)
            more = f" and {counts[name] - 1} more" if counts[name] > 1 else ""
            lines.append(f"    {one_line(f'{name}: {first.path} {first.detail}{more}')}")
    return "\n".join(lines)


def _side(side: Side) -> str:
    size = f"{side.members} members, {side.bytes} bytes" if side.members else f"{side.bytes} bytes"
    digest = f", sha256 {side.sha256}" if side.sha256 else ""
    return one_line(f"{side.path} ({side.kind}, {size}{digest})")


_STYLE = (
    "body{font:15px/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem;"
    "color-scheme:light dark}table{border-collapse:collapse;width:100%}"
    "td,th{border-bottom:1px solid #8884;padding:.3rem .6rem;text-align:left;vertical-align:top;"
    "overflow-wrap:anywhere}code{font-size:.9em}.different{color:#c0392b}"
    ".equivalent{color:#b9770e}.identical{color:#1e8449}"
)


def as_html(result: Audit) -> str:
    """The whole result as one page. Every text from outside is escaped."""
    rows = "".join(
        _row(item.path or "(the archive itself)", item.kind, item.detail, item.cause)
        for item in result.differences
    )
    explained = "".join(
        _row(item.path or "(the archive itself)", item.normaliser, item.detail)
        for item in result.explained
    )
    meanings = "".join(
        _row(item.name, item.explanation)
        for item in normalise.REGISTRY
        if item.name in result.normalisers
    )
    title = f"{result.verdict}: {_text(result.a.path)}, {_text(result.b.path)}"
    parts = [
        '<!doctype html><html lang="en"><head><meta charset="utf-8">',
        f"<title>{title}</title><style>{_STYLE}</style></head><body>",
        f'<h1 class="{result.verdict}">{_text(headline(result))}</h1>',
        f"<p>A: <code>{_text(_side(result.a))}</code><br>B: <code>{_text(_side(result.b))}</code></p>",
        f"<p>Varied between the builds: {_text(', '.join(result.varied))}</p>"
        * bool(result.varied),
        _table("Differences", ("Member", "Kind", "Where and what", "Likely cause"), rows),
        _table("Explained by normalisers", ("Member", "Normaliser", "Where and what"), explained),
        _table("What these normalisers ignore", ("Name", "Meaning"), meanings),
        "</body></html>\n",
    ]
    return "\n".join(part for part in parts if part)


def _table(title: str, heads: tuple[str, ...], rows: str) -> str:
    if not rows:
        return ""
    top = "".join(f'<th scope="col">{head}</th>' for head in heads)
    return f"<h2>{title}</h2><table><thead><tr>{top}</tr></thead><tbody>{rows}</tbody></table>"


def _row(*cells: str) -> str:
    return "<tr>" + "".join(f"<td>{_text(cell)}</td>" for cell in cells) + "</tr>"


def _text(text: str) -> str:
    return escape(one_line(text), quote=True)
