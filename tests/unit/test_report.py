"""Reports for CI and for people, with hostile text in them."""

from __future__ import annotations

import io
from xml.etree import ElementTree as ET

from rich.console import Console

from tests.unit.test_verify_result import check, report
from tfenv.report import drawing, html, junit, table

HOSTILE = "<script>alert(1)</script> [red]&\x1b[2J\x00 ü"


def test_junit_counts_and_names() -> None:
    root = ET.fromstring(
        junit.render(
            report(
                check("device.a", "passed", "fine"),
                check("device.gpu", "skipped", "no driver"),
                check("xla.b", "failed", "wrong"),
                check("xla.c", "known", "listed"),
            )
        )
    )
    assert root.attrib["tests"] == "4"
    assert root.attrib["failures"] == "1"
    assert root.attrib["skipped"] == "2"
    assert [suite.attrib["name"] for suite in root] == ["device", "xla"]
    failure = root.find("testsuite[@name='xla']/testcase[@name='b']/failure")
    assert failure is not None
    assert failure.attrib["message"] == "wrong"


def test_junit_holds_any_text() -> None:
    root = ET.fromstring(junit.render(report(check("device.a", "failed", HOSTILE))))
    failure = root.find(".//failure")
    assert failure is not None
    assert failure.attrib["message"] == HOSTILE.replace("\x1b", "?").replace("\x00", "?")


def test_html_escapes() -> None:
    page = html.render(report(check("device.a", "failed", HOSTILE)))
    assert "<script>alert" not in page
    assert "&lt;script&gt;" in page


def shown(*, terminal: bool = False) -> str:
    stream = io.StringIO()
    console = Console(file=stream, force_terminal=terminal, width=100, color_system=None)
    table.show(console, report(check("device.a", "failed", HOSTILE), check("xla.b", "passed")))
    return stream.getvalue()


def test_the_table_names_the_failed_check() -> None:
    text = shown()
    assert "device.a" in text
    assert "2.6.5-cpu: NOT right" in text
    assert text.splitlines()[0].startswith("2.6.5-cpu: 1 passed, 1 failed")
    assert "not exercised" in text.splitlines()[0]


def test_progress_shows_a_check_with_many_cases_once() -> None:
    stream = io.StringIO()
    progress = table.Progress(Console(file=stream, width=100, color_system=None))
    for name in ("a", "b", "c"):
        progress(check(f"kernels.unary[{name}]", "passed"))
    progress(check("kernels.unary[d]", "failed", "wrong"))
    progress(check("device.import", "passed"))
    lines = [text.split()[:2] for text in stream.getvalue().splitlines()]
    assert lines == [
        ["passed", "kernels.unary[…]"],
        ["failed", "kernels.unary[d]"],
        ["passed", "device.import"],
    ]


def test_a_graph_with_a_loop_is_drawn() -> None:
    loop = [
        {"name": "enter", "op": "Enter", "inputs": ["elsewhere"]},
        {"name": "merge", "op": "Merge", "inputs": ["enter", "next:1"]},
        {"name": "next", "op": "<NextIteration>", "inputs": ["^merge"]},
    ]
    root = ET.fromstring(drawing.graph(loop, "a & b"))
    assert len(root.findall("rect")) == 3
    assert len(root.findall("path")) == 3
    assert root.findtext("title") == "a & b"


def test_bars_over_their_bound_are_marked() -> None:
    rows = [
        ("a", 0.0, 4.0, "ulp", "passed"),
        ("b", 4.0, 4.0, "ulp", "passed"),
        ("<c>", 400.0, 4.0, "", "failed"),
        ("d", 8.0, 4.0, "ulp", "known"),
    ]
    root = ET.fromstring(drawing.error_bars(rows))
    bars = root.findall("li/span[@class='track']/span")
    assert [bar.attrib["class"] for bar in bars] == ["bar", "bar", "failed", "known"]
    widths = [bar.attrib["style"] for bar in bars]
    assert widths == ["width:0.0%", "width:80.0%", "width:100.0%", "width:100.0%"]
    assert [item.findtext("span[2]") for item in root][:3] == [
        "0 of 4 ulp",
        "4 of 4 ulp",
        "400 of 4",
    ]


def test_nodes_inside_a_cluster_are_framed() -> None:
    nodes = [
        {"name": "x", "op": "Tanh", "inputs": []},
        {"name": "y", "op": "_XlaRun", "inputs": []},
    ]
    plain, framed = (ET.fromstring(drawing.graph(nodes, "t", names)) for names in ((), {"x"}))
    assert [node.attrib["class"] for node in plain.findall("rect")] == ["node", "node cluster"]
    assert [node.attrib["class"] for node in framed.findall("rect")] == ["node cluster"] * 2


def test_failures_and_known_defects_stand_before_the_long_table() -> None:
    page = html.render(report(check("xla.b", "failed", "wrong"), check("xla.c", "known", "listed")))
    for part in ('id="failed"', 'id="known"', "<dd>wrong</dd>", "<dd>listed</dd>"):
        assert page.index(part) < page.index('id="all"')
    fine = html.render(report(check("xla.b", "passed")))
    assert 'id="failed"' not in fine
    assert 'id="known"' not in fine


def test_hostile_text_cannot_repaint_the_terminal() -> None:
    text = shown(terminal=True)
    assert "\x1b[2J" not in text
    assert "[red]" in text
