"""An audit for people: the terminal's text, and a page of HTML that needs nothing else."""

from __future__ import annotations

from collections import Counter
from html import escape

from tfenv.audit import normalise
from tfenv.audit.model import Audit, Side
from tfenv.errors import one_line

MAX_LINES = 200
MAX_EXPLAINED = 60
_AGAINST = "The first build against the published wheel, which decides nothing:"
_ITSELF = "(the archive itself)"
_WHOLE = frozenset(
    (*normalise.NAMES, "metadata", "python-line", "text-line", "instruction", "constant")
)  # words that a page does not break


def headline(result: Audit) -> str:
    """The verdict in one sentence."""
    if result.verdict == "identical":
        what = "identical"
    elif result.verdict == "equivalent":
        parts = [f"after: {', '.join(result.normalisers)}"] if result.normalisers else []
        parts += [_meant(result)] if result.declared else []
        what = f"identical {', '.join(parts)}"
    else:
        places = Counter(item.path for item in result.differences)
        count = _count(len(result.differences), "difference")
        what = f"different: {count} in {_count(len(places), 'member')}"
        if result.normalisers:
            what += f", beyond {', '.join(result.normalisers)}"
        if result.declared:
            what += f", and {_meant(result)}"
    if result.trusted:
        what += f" (only the {result.trusted}s were read and trusted: no file was checked)"
    return what


def _meant(result: Audit) -> str:
    lines = sum(len(changed_lines(item.detail)) for item in result.declared)
    members = _count(len(result.declared), "member")
    return f"but for {_count(lines, 'declared line')} in {members}"


def changed_lines(detail: str) -> list[str]:
    """The lines of a declared diff without the headers of its hunks."""
    return [line for line in detail.split("\n") if not line.startswith("@@")]


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def tally(result: Audit) -> str:
    """How much differs before anything is explained; empty where the contents were not read."""
    found = result.tally
    if found is None or not found.members_differing:
        return ""
    text = f"{found.members_differing} of {found.members} members differ in content"
    if found.libraries_differing:
        text += f"; libraries among them: {found.libraries_differing}"
    if found.library_bytes:
        text += f", in {found.library_bytes_differing} of {found.library_bytes:,} bytes"
    return text


def as_text(result: Audit) -> str:
    """The verdict, then every difference under its member, then what was explained away."""
    lines = [headline(result), f"  A: {_side(result.a)}", f"  B: {_side(result.b)}"]
    lines += [f"  {text}" for text in [tally(result)] if text]
    if result.varied:
        lines.append(f"  varied between the builds: {', '.join(result.varied)}")
    for item in result.differences[:MAX_LINES]:
        lines.append(f"  {one_line(f'{item.kind}: {item.path or _ITSELF}: {item.detail}')}")
        lines.append(f"      likely cause: {one_line(item.cause)}")
    if len(result.differences) > MAX_LINES:
        lines.append(f"  {len(result.differences) - MAX_LINES} more: --json has them all")
    lines += _declared_lines(result)
    lines += _explained_lines(result)
    if result.released:
        lines += ["", _AGAINST, *as_text(result.released).split("\n")]
    return "\n".join(lines)


def _declared_lines(result: Audit) -> list[str]:
    found = ["  meant to differ (declared):"] if result.declared else []
    for item in result.declared:
        found.append(f"    {one_line(item.path)}")
        found += [f"      {one_line(line)}" for line in changed_lines(item.detail)[:MAX_LINES]]
    return found


def _explained_lines(result: Audit) -> list[str]:
    """What normalisers explain, member by member."""
    found = ["  explained:"] if result.explained else []
    members: dict[str, list[str]] = {}
    for item in result.explained:
        text = one_line(f"{item.normaliser}: {item.detail}")
        members.setdefault(item.path or _ITSELF, []).append(text)
    for path, texts in members.items():
        found += [f"    {one_line(path)}", *(f"      {text}" for text in texts)]
    if len(found) > MAX_EXPLAINED:
        found[MAX_EXPLAINED:] = ["    more: --json and --html have it all"]
    return found


def _side(side: Side) -> str:
    size = f"{side.members} members, {side.bytes} bytes" if side.members else f"{side.bytes} bytes"
    digest = f", sha256 {side.sha256}" if side.sha256 else ""
    return one_line(f"{side.path} ({side.kind}, {size}{digest})")


_STYLE = (
    "body{font:15px/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem;"
    "color-scheme:light dark}table{border-collapse:collapse;width:100%}"
    "td,th{border-bottom:1px solid #8884;padding:.3rem .6rem;text-align:left;vertical-align:top;"
    "overflow-wrap:anywhere}code{font-size:.9em}.different{color:#c0392b}"
    ".k,th{white-space:nowrap}.equivalent{color:#b9770e}.identical{color:#1e8449}"
)


def as_html(result: Audit) -> str:
    """The whole result as one page. Every text from outside is escaped."""
    title = f"{result.verdict}: {_text(result.a.path)}, {_text(result.b.path)}"
    parts = [
        '<!doctype html><html lang="en"><head><meta charset="utf-8">',
        f"<title>{title}</title><style>{_STYLE}</style></head><body>",
        f'<h1 class="{result.verdict}">{_text(headline(result))}</h1>',
        *_body(result),
    ]
    if result.released:
        verdict = _text(headline(result.released))
        parts += [f"<h1>{_AGAINST} {verdict}</h1>", *_body(result.released)]
    return "\n".join(part for part in [*parts, "</body></html>\n"] if part)


def _body(result: Audit) -> list[str]:
    rows = "".join(
        _row(item.path or _ITSELF, item.kind, item.detail, item.cause)
        for item in result.differences
    )
    explained = "".join(
        _row(item.path or _ITSELF, item.normaliser, item.detail) for item in result.explained
    )
    declared = "".join(
        _row(item.path, line) for item in result.declared for line in changed_lines(item.detail)
    )
    meanings = "".join(
        _row(item.name, item.explanation)
        for item in normalise.REGISTRY
        if item.name in result.normalisers
    )
    varied = _text(", ".join(result.varied))
    return [
        f"<p>A: <code>{_text(_side(result.a))}</code><br>B: <code>{_text(_side(result.b))}</code></p>",
        f"<p>Varied between the builds: {varied}</p>" * bool(result.varied),
        f"<p>{_text(tally(result))}</p>" * bool(tally(result)),
        _table("Differences", ("Member", "Kind", "Where and what", "Likely cause"), rows),
        _table("Meant to differ: declared", ("Member", "Line"), declared),
        _table("Explained by normalisers", ("Member", "Normaliser", "Where and what"), explained),
        _table("What these normalisers ignore", ("Name", "Meaning"), meanings),
    ]


def _table(title: str, heads: tuple[str, ...], rows: str) -> str:
    if not rows:
        return ""
    top = "".join(f'<th scope="col">{head}</th>' for head in heads)
    return f"<h2>{title}</h2><table><thead><tr>{top}</tr></thead><tbody>{rows}</tbody></table>"


def _row(*cells: str) -> str:
    classes = [" class=k" if cell in _WHOLE else "" for cell in cells]
    parts = (f"<td{kind}>{_text(cell)}</td>" for kind, cell in zip(classes, cells, strict=True))
    return f"<tr>{''.join(parts)}</tr>"


def _text(text: str) -> str:
    return escape(one_line(text), quote=True)
