"""Write a verification's report in all its forms."""

from __future__ import annotations

from pathlib import Path

import msgspec

from tfenv.files import write_bytes, write_text
from tfenv.report import html, junit
from tfenv.verify.result import Report


class Files(msgspec.Struct, frozen=True):
    """Where a report lies."""

    json: Path
    junit: Path
    html: Path


def all_formats(report: Report, folder: Path) -> Files:
    """report.json for programs, junit.xml for CI, report.html for people."""
    files = Files(folder / "report.json", folder / "junit.xml", folder / "report.html")
    write_bytes(files.json, msgspec.json.format(msgspec.json.encode(report), indent=1) + b"\n")
    write_text(files.junit, junit.render(report))
    write_text(files.html, html.render(report))
    return files
