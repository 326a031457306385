"""Verify released wheels in full and keep the reports: what the documentation's claims rest on.

    nox -s evidence -- TARGET[@PYTHON]…

writes docs/evidence/<target>.json, or <target>-py<python>.json where a Python is named: a report
without paths and without the numbers behind each verdict, so that it says the same on every machine
and reads well in a diff. What the reports prove goes into tfenv/facts/proven.toml.
"""

from __future__ import annotations

import sys
import tempfile
import time
from datetime import datetime, timezone
from pathlib import Path

import msgspec

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench import evidence_pages
from tfenv import target as targets
from tfenv.facts import proofs
from tfenv.files import write_bytes, write_text
from tfenv.toolchain import catalogue
from tfenv.verify import drive, stage
from tfenv.verify.result import Report

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "evidence"
HEADLINE = (
    *("1.4.0-cpu", "1.13.2-cpu", "1.15.5-cpu"),
    *("2.0.4-cpu", "2.3.4-cpu", "2.6.5-cpu", "2.6.5-cpu@3.9", "2.9.3-cpu"),
    *("2.12.1-cpu", "2.15.1-cpu", "2.18.1-cpu", "2.20.0-cpu", "2.21.0-cpu"),
)
# Where this run happened is nobody's business, and changes from run to run.
PRIVATE = ("interpreter", "found", "machine", "environment")


def portable(report: Report) -> Report:
    """A report without what belongs to the machine that made it."""
    environment = {k: v for k, v in report.environment.items() if k not in PRIVATE}
    checks = [
        msgspec.structs.replace(
            check, data=None, group="", detail=evidence_pages.without_folders(check.detail)
        )
        for check in report.checks
    ]
    return msgspec.structs.replace(
        report, environment=environment, checks=sorted(checks, key=lambda check: check.id)
    )


def collect(name: str) -> Report:
    """One full verification, of `TARGET` or `TARGET@PYTHON`, written to its place."""
    target, _, python = name.partition("@")
    with tempfile.TemporaryDirectory() as folder:
        request = stage.Request(
            target=targets.parse(target),
            python=python,
            orders=drive.Orders(profile="full", count=drive.default_count()),
            folder=Path(folder),
        )
        report = portable(stage.verify(request, lambda _: None, lambda _: None))
    text = msgspec.json.encode(report).replace(b'},{"id"', b'},\n{"id"')
    write_bytes(FOLDER / f"{name.replace('@', '-py')}.json", text + b"\n")
    return report


def write_pages() -> None:
    """The pages beside the reports."""
    reports = {
        path.name: msgspec.json.decode(path.read_bytes(), type=Report)
        for path in FOLDER.glob("*.json")
    }
    write_text(FOLDER / "README.md", evidence_pages.reports_page(reports.items()))
    write_text(FOLDER / "defects.md", evidence_pages.defects_page(reports.values()))


def main(names: list[str]) -> int:
    """Collect; 1 when a report is not right."""
    wrong = 0
    for name in names or HEADLINE:
        started = time.monotonic()
        report = collect(name)
        wrong += not report.right
        s = report.summary
        counts = f"{s.passed:5} passed {s.failed:3} failed {s.skipped:4} skipped {s.known:3} known"
        sys.stdout.write(f"{name:15} {counts} {time.monotonic() - started:6.0f} s\n")
        for check in report.failures():
            sys.stdout.write(f"    {check.id}: {check.detail[:200]}\n")
        sys.stdout.flush()
    write_pages()
    proofs.main(FOLDER, datetime.now(timezone.utc).date().isoformat())
    catalogue.write()
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
