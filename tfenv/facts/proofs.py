"""Rows of `proven.toml` out of the reports in `docs/evidence`.

`python -m tfenv.facts.proofs docs/evidence 2026-12-01` writes them anew. A report has no date, so that
it says the same on every machine: a row keeps its date for as long as its report says the same, and
else takes the one that is given.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

from tfenv import facts, files
from tfenv.errors import FileFormatError
from tfenv.facts import schema, table

SOURCE = "docs/evidence"


def read(folder: Path) -> list[schema.Proof]:
    """A row without a date for every report that is right.

    Raises:
        FileFormatError: a file is no report.
    """
    found = []
    for path in sorted(folder.glob("*.json")):
        try:
            report = json.loads(path.read_text("utf-8"))
            row = _row(report, path.name)
        except (ValueError, KeyError, TypeError) as error:
            raise FileFormatError(
                f"{path.name} is no report of a verification", repr(error), "make it anew"
            ) from error
        found += [row] if row is not None else []
    return found


def _row(report: dict[str, Any], name: str) -> schema.Proof | None:
    """What a report proves: all areas in full is `verified`, less is `checked`."""
    counts = report["summary"]
    if counts["failed"] or not counts["passed"]:
        return None
    environment = report["environment"]
    whole = environment["profile"] == "full" and all_areas(report["not_exercised"])
    areas = ", ".join(sorted({check["suite"] for check in report["checks"]}))
    device = "" if environment["device"] == "gpu" else "; no GPU was used"
    return schema.Proof(
        target=report["target"],
        level="verified" if whole else "checked",
        date="",
        python=environment["python"],
        evidence=f"{report['wheel']}, {environment['profile']} profile of {areas}: "
        f"{counts['passed']} passed, {counts['known']} known defects, "
        f"{counts['skipped']} skipped{device}",
        source=f"{SOURCE}/{name} (tfenv verify, Linux x86_64)",
    )


def all_areas(not_exercised: Iterable[str]) -> bool:
    """Whether no area was left out of a verification, by its report's list."""
    return not any(text.endswith("(not asked for)") for text in not_exercised)


def merge(
    old: Iterable[schema.Proof], reports: Iterable[schema.Proof], today: str
) -> list[schema.Proof]:
    """The table with these reports instead of the ones it has; other proofs stay."""
    old = tuple(old)
    dates = {_undated(row): row.date for row in old}
    kept = [row for row in old if not row.source.startswith(SOURCE)]
    new = [msgspec.structs.replace(row, date=dates.get(_undated(row), today)) for row in reports]
    return [*kept, *new]


def _undated(row: schema.Proof) -> schema.Proof:
    return msgspec.structs.replace(row, date="")


def main(folder: Path, today: str) -> None:
    """Write `proven.toml` beside this module."""
    rows = merge(facts.rows(schema.Proof), read(folder), today)
    text = table.render(table.header("proven"), rows)
    files.write_text(Path(facts.__file__).with_name("proven.toml"), text)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
