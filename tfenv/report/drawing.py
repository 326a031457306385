"""Drawings of a report: bars as a list, and a graph in layers as SVG."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from html import escape
from typing import Any

import msgspec

_BEHIND = 1.25  # times its bound: an error as large as this and larger ones fill the whole bar
_BOX = (150, 26)
_GAP = (18, 34)
_MAX_NODES = 60


class Bar(msgspec.Struct, frozen=True):
    """One line of a bar chart."""

    label: str
    part: float  # 0 to 1 and more
    text: str
    kind: str  # bar, known or failed


def error_bars(found: Sequence[tuple[str, float, float, str, str]]) -> str:
    """Errors as parts of their bounds, on a linear scale that ends a little behind the bound.

    Args:
        found: (check, error, bound, unit, status) with a positive bound.
    """
    bars = []
    for name, error, bound, unit, status in found:
        over = "known" if status == "known" else "failed" if error > bound else "bar"
        bars.append(Bar(name, error / bound, f"{error:.3g} of {bound:.3g} {unit}".strip(), over))
    return _bars(bars, scale=_BEHIND, rule=True)


def counts(found: Sequence[tuple[str, int]]) -> str:
    """Numbers of things, on a linear scale."""
    most = max((count for _, count in found), default=0) or 1
    return _bars([Bar(name, count / most, str(count), "bar") for name, count in found])


def time_bars(found: Sequence[tuple[str, float]]) -> str:
    """Durations, on a linear scale."""
    longest = max((seconds for _, seconds in found), default=0.0) or 1.0
    return _bars([Bar(name, s / longest, f"{s:.1f} s", "bar") for name, s in found])


def _bars(bars: Sequence[Bar], *, scale: float = 1.0, rule: bool = False) -> str:
    """A list that is a chart: names, bars and numbers in columns that fit any width."""
    lines = []
    for bar in bars:
        width = 100 * max(0.0, min(bar.part / scale, 1.0))
        lines.append(
            f'<li><code>{escape(bar.label)}</code><span class="track">'
            f'<span class="{bar.kind}" style="width:{width:.1f}%"></span></span>'
            f"<span>{escape(bar.text)}</span></li>"
        )
    kind = "bars ruled" if rule else "bars"
    return f'<ol class="{kind}">{"".join(lines)}</ol>'


def _svg(width: float, height: float, lines: Sequence[str], title: str) -> str:
    head = f'<svg viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" role="img">'
    return head + f"<title>{escape(title)}</title>" + "".join(lines) + "</svg>"


def _short(text: str, length: int) -> str:
    return escape(text if len(text) <= length else text[: length - 1] + "…")


def graph(nodes: Sequence[dict[str, Any]], title: str, framed: Collection[str] = ()) -> str:
    """A graph in layers: every node under all that it reads from.

    Args:
        nodes: name, op and inputs of each node, as the suite records them.
        framed: names of nodes that are drawn with a frame; XLA's own ops always are.
    """
    known = {str(n["name"]): n for n in nodes[:_MAX_NODES]}
    depth = _depths(known)
    layers: dict[int, list[str]] = {}
    for name in known:
        layers.setdefault(depth[name], []).append(name)
    width, height = _BOX
    columns = max(map(len, layers.values()), default=1)
    total = columns * (width + _GAP[0]) + _GAP[0]
    place = {}
    for layer, names in layers.items():
        left = (total - len(names) * (width + _GAP[0]) + _GAP[0]) / 2
        for number, name in enumerate(names):
            x, y = left + number * (width + _GAP[0]), 24 + layer * (height + _GAP[1])
            place[name] = (x, y)
    lines = [f'<text x="8" y="14">{escape(title)}</text>']
    lines += [_edge(place[i], place[name]) for name in known for i in _inputs(known, name)]
    for name in known:
        op = str(known[name]["op"])
        lines.append(_node(place[name], op, framed=name in framed or "Xla" in op))
    return _svg(total, 30 + len(layers) * (height + _GAP[1]), lines, title)


def _inputs(known: dict[str, dict[str, Any]], name: str) -> list[str]:
    wanted = (str(i).lstrip("^").split(":")[0] for i in known[name].get("inputs", []))
    return [i for i in wanted if i in known and i != name]


def _depths(known: dict[str, dict[str, Any]]) -> dict[str, int]:
    """The longest way to each node; a graph with a loop is cut at the number of its nodes."""
    depth = dict.fromkeys(known, 0)
    for _ in known:
        changed = False
        for name in known:
            deepest = max((depth[i] + 1 for i in _inputs(known, name)), default=0)
            if deepest > depth[name] and deepest < len(known):
                depth[name] = deepest
                changed = True
        if not changed:
            break
    return depth


def _edge(start: tuple[float, float], end: tuple[float, float]) -> str:
    width, height = _BOX
    x1, y1, x2, y2 = start[0] + width / 2, start[1] + height, end[0] + width / 2, end[1]
    middle = (y1 + y2) / 2
    path = f"M{x1:.0f} {y1:.0f}C{x1:.0f} {middle:.0f} {x2:.0f} {middle:.0f} {x2:.0f} {y2:.0f}"
    return f'<path class="edge" d="{path}"/>'


def _node(place: tuple[float, float], op: str, *, framed: bool) -> str:
    (x, y), (width, height) = place, _BOX
    kind = "node cluster" if framed else "node"
    return (
        f'<rect class="{kind}" x="{x:.0f}" y="{y:.0f}" width="{width}" height="{height}" rx="4"/>'
        f'<text x="{x + width / 2:.0f}" y="{y + 17:.0f}" text-anchor="middle">{_short(op, 20)}</text>'
    )
