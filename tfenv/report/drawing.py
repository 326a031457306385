"""Drawings of a report as SVG: bars, and a graph in layers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from typing import Any

import msgspec

_ROW = 16  # height of a bar's line, pixels
_LABEL = 330
_WIDTH = 900
_DECADES = 6  # a bound is at the right end, bars of a millionth of it and less are empty
_BOX = (150, 26)
_GAP = (18, 34)
_MAX_NODES = 60


class Bar(msgspec.Struct, frozen=True):
    """One line of a bar chart."""

    label: str
    part: float  # of the scale, 0 to 1 and more
    text: str


def error_bars(found: Sequence[tuple[str, float, float]]) -> str:
    """Errors as parts of their bounds, on a logarithmic scale.

    Args:
        found: (name, error, bound) with a positive bound.
    """
    bars = [
        Bar(name, 1 + math.log10(error / bound) / _DECADES if error > 0 else 0.0, f"{error:.3g}")
        for name, error, bound in found
    ]
    return _bars(bars, rule=True)


def time_bars(found: Sequence[tuple[str, float]]) -> str:
    """Durations, on a linear scale."""
    longest = max((seconds for _, seconds in found), default=0.0) or 1.0
    return _bars([Bar(name, s / longest, f"{s:.1f} s") for name, s in found], rule=False)


def _bars(bars: Sequence[Bar], *, rule: bool) -> str:
    room = _WIDTH - _LABEL - 80
    lines = []
    for number, bar in enumerate(bars):
        y = number * _ROW
        length = max(0.0, min(bar.part, 1.1)) * room
        kind = "over" if bar.part > 1 else "bar"
        lines.append(
            f'<text x="{_LABEL - 6}" y="{y + 12}" text-anchor="end">{_short(bar.label, 48)}</text>'
            f'<rect class="{kind}" x="{_LABEL}" y="{y + 3}" width="{length:.1f}" height="10"/>'
            f'<text x="{_LABEL + length + 5:.1f}" y="{y + 12}">{escape(bar.text)}</text>'
        )
    height = len(bars) * _ROW + 4
    if rule:
        x = _LABEL + room
        lines.append(f'<line class="rule" x1="{x}" y1="0" x2="{x}" y2="{height}"/>')
    return _svg(_WIDTH, height, lines, "bar chart")


def _svg(width: float, height: float, lines: Sequence[str], title: str) -> str:
    head = f'<svg viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" role="img">'
    return head + f"<title>{escape(title)}</title>" + "".join(lines) + "</svg>"


def _short(text: str, length: int) -> str:
    return escape(text if len(text) <= length else text[: length - 1] + "…")


def graph(nodes: Sequence[dict[str, Any]], title: str) -> str:
    """A graph in layers: every node under all that it reads from.

    Args:
        nodes: name, op and inputs of each node, as the suite records them.
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
    lines += [_node(place[name], str(known[name]["op"])) for name in known]
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


def _node(place: tuple[float, float], op: str) -> str:
    (x, y), (width, height) = place, _BOX
    kind = "node cluster" if "Xla" in op else "node"
    return (
        f'<rect class="{kind}" x="{x:.0f}" y="{y:.0f}" width="{width}" height="{height}" rx="4"/>'
        f'<text x="{x + width / 2:.0f}" y="{y + 17:.0f}" text-anchor="middle">{_short(op, 20)}</text>'
    )
