"""The pages of docs/evidence: which reports there are, and which defects they found."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from tfenv.facts import proofs
from tfenv.facts.versions import version
from tfenv.verify.result import Check, Report

REPORTS = """# Reports of released wheels

Each file is what `tfenv verify` found in a released wheel, without paths: `summary`, what was
*not* exercised, and every check. `nox -s evidence -- TARGET[@PYTHON]…` writes them anew, in full.

All of these ran on Linux x86_64 without a GPU. The first line of each report says what it did not
exercise. The seconds are those of one run on two cores, the environment included, while other work
was going on; MiB is the largest process of the suite.

[Defects](defects.md) lists what they found wrong in the releases. [The exam](exam.md) tells which
broken subjects the checks caught, from the records in `exam/` (`nox -s exam -- TARGET`).

| report | Python | areas | passed | known defects | skipped | failed | seconds | MiB |
| --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |
"""
DEFECTS = """# Defects of released TensorFlows

What `tfenv verify` found wrong in released wheels, from the reports in this folder: results beyond
the stated error bound, and processes that end. *Releases* are those verified in full that have the
defect; between two of them nothing was tried. *Seen as* is what the newest of them gives.

"""
HEADS = ("## With a public report", "## Without one that is known")
COLUMNS = "| what | releases | seen as | reference |\n| --- | --- | --- | --- |\n"
_FOLDERS = re.compile(r"(?<![\w./:])/(?:[\w.@+-]+/)+(?=[\w.@+-])")
_PUBLIC = re.compile(r"\b([a-z]+)#(\d+)")


@dataclass
class Defect:
    """One defect, in all the checks and releases that saw it."""

    checks: set[str] = field(default_factory=set)
    seen: dict[str, str] = field(default_factory=dict)  # release: what a check said


def without_folders(text: str) -> str:
    """A text in which files keep their names and lose the folders of one machine."""
    return _FOLDERS.sub("…/", text)


def reports_page(reports: Iterable[tuple[str, Report]]) -> str:
    """The table of reports, by version; each with the name of its file."""
    rows = sorted(reports, key=lambda pair: (version(release(pair[1])), pair[0]))
    return REPORTS + "".join(f"| {' | '.join(_report(*pair))} |\n" for pair in rows)


def release(report: Report) -> str:
    """The version of TensorFlow in a report."""
    return report.target.split("-")[0]


def _report(name: str, report: Report) -> list[str]:
    s = report.summary
    whole = proofs.all_areas(report.not_exercised)
    areas = ["all"] if whole else sorted({check.suite for check in report.checks})
    return [
        f"[{report.target}]({name})",
        report.environment["python"],
        ", ".join(areas),
        *map(str, (s.passed, s.known, s.skipped, s.failed)),
        f"{report.seconds:.0f}",
        str(report.peak_bytes >> 20) if report.peak_bytes else "?",
    ]


def defects_page(reports: Iterable[Report]) -> str:
    """Every defect with its releases and reference, the publicly reported ones first."""
    found: dict[tuple[str, str], Defect] = {}
    for report in sorted(reports, key=lambda report: version(release(report))):
        for check in report.checks:
            if check.status == "known":
                _add(found, release(report), check)
    public = {key: value for key, value in found.items() if _PUBLIC.search(key[0])}
    rest = {key: value for key, value in found.items() if key not in public}
    parts = [
        f"{head}\n\n{COLUMNS}"
        + "".join(_row(reference, table[reference, what]) for reference, what in sorted(table))
        for head, table in zip(HEADS, (public, rest), strict=True)
    ]
    return DEFECTS + "\n".join(parts)


def _add(found: dict[tuple[str, str], Defect], where: str, check: Check) -> None:
    said, reference = split(check.detail)
    # One public report is one defect; one of ours is told apart by what was computed.
    what = "" if _PUBLIC.search(reference) else subject(check.id)
    defect = found.setdefault((reference, what), Defect())
    defect.checks.add(subject(check.id))
    defect.seen[where] = said


def subject(name: str) -> str:
    """`kernels.unary[sigmoid]` of `kernels.unary_shapes[sigmoid-large]`."""
    table, _, case = name.partition("[")
    operation = case.rstrip("]").split("-")[0]
    table = re.sub(r"_(shapes|types)$", "", table)
    return f"{table}[{operation}]" if operation else table


def split(detail: str) -> tuple[str, str]:
    """What a known defect's check said, and the reference in the parentheses at its end."""
    depth = 0
    for place in range(len(detail) - 1, -1, -1):
        depth += (detail[place] == ")") - (detail[place] == "(")
        if depth == 0:
            break
    return detail[:place].strip(), detail[place + 1 : -1]


def _row(reference: str, defect: Defect) -> str:
    releases = sorted(defect.seen, key=version)
    where = ", ".join(f"`{check}`" for check in sorted(defect.checks))
    said = defect.seen[releases[-1]]
    cells = (where, ", ".join(releases), said[:160] + "…" * (len(said) > 160), _linked(reference))
    return "| " + " | ".join(" ".join(cell.replace("|", "\\|").split()) for cell in cells) + " |\n"


def _linked(reference: str) -> str:
    """`tensorflow#46887` as a link."""
    return _PUBLIC.sub(r"[\1#\2](https://github.com/\1/\1/issues/\2)", reference)
