"""Reports for CI and for people, with hostile text in them."""

from __future__ import annotations

import io
from xml.etree import ElementTree as ET

from rich.console import Console

from tests.unit.test_verify_result import check, report
from tfenv.report import html, junit, table

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


def test_hostile_text_cannot_repaint_the_terminal() -> None:
    text = shown(terminal=True)
    assert "\x1b[2J" not in text
    assert "[red]" in text
