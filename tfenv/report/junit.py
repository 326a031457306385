"""JUnit XML, as CI systems read it."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

from tfenv.verify.result import Check, Report

# What XML 1.0 cannot hold at all.
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render(report: Report) -> str:
    """One test suite per area; a known defect is a skip that names its reference."""
    root = ET.Element("testsuites", _counts(report.checks) | {"name": _clean(report.headline())})
    for area in sorted({check.suite for check in report.checks}):
        checks = [check for check in report.checks if check.suite == area]
        suite = ET.SubElement(root, "testsuite", _counts(checks) | {"name": area})
        for check in checks:
            _case(suite, check)
    ET.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ET.tostring(root, "unicode") + "\n"


def _counts(checks: list[Check]) -> dict[str, str]:
    states = [check.status for check in checks]
    return {
        "tests": str(len(states)),
        "failures": str(states.count("failed")),
        "errors": "0",
        "skipped": str(states.count("skipped") + states.count("known")),
        "time": f"{sum(check.seconds for check in checks):.3f}",
    }


def _case(suite: ET.Element, check: Check) -> None:
    name = check.id.split(".", 1)[-1]
    case = ET.SubElement(
        suite, "testcase", classname=check.suite, name=_clean(name), time=f"{check.seconds:.3f}"
    )
    detail = _clean(check.detail)
    if check.status == "failed":
        ET.SubElement(case, "failure", message=detail).text = detail
    elif check.status == "skipped":
        ET.SubElement(case, "skipped", message=detail)
    elif check.status == "known":
        ET.SubElement(case, "skipped", message=f"known defect: {detail}")
    else:
        ET.SubElement(case, "system-out").text = detail


def _clean(text: str) -> str:
    return _NOT_XML.sub("?", text)
