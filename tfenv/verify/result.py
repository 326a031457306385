"""The result of a verification: what `report.json` holds."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal

import msgspec

from tfenv.errors import FileFormatError

SCHEMA = 1
Status = Literal["passed", "failed", "skipped", "known"]


class Check(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One verified property."""

    id: str
    suite: str
    status: Status
    detail: str = ""
    seconds: float = 0.0
    group: str = ""
    data: dict[str, Any] | None = None  # numbers behind the verdict: error, bound, unit


class Summary(msgspec.Struct, frozen=True):
    """How many checks ended how. A skip is never counted as a pass."""

    passed: int
    failed: int
    skipped: int
    known: int


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """One verification.

    Attributes:
        wheel: which file was verified, and where it came from.
        environment: interpreter, platform, package versions.
        not_exercised: what this run says nothing about, one reason each.
        seconds: from the first step to the last, environment included.
        peak_bytes: resident in the largest process of the suite; 0: the system does not say.
    """

    schema: int = SCHEMA
    target: str
    wheel: str
    environment: dict[str, Any]
    summary: Summary
    not_exercised: list[str]
    checks: list[Check]
    seconds: float = 0.0
    peak_bytes: int = 0

    @property
    def right(self) -> bool:
        """Whether something was checked and nothing failed."""
        return self.summary.passed > 0 and self.summary.failed == 0

    def failures(self) -> list[Check]:
        """The failed checks."""
        return [check for check in self.checks if check.status == "failed"]

    def headline(self) -> str:
        """One line: the counts, which wheel, and what was not exercised."""
        s = self.summary
        return (
            f"{self.target}: {s.passed} passed, {s.failed} failed, "
            f"{s.skipped} skipped, {s.known} known · {self.wheel} · {self.silence()}"
        )

    def silence(self) -> str:
        """What was not exercised."""
        return "not exercised: " + ("; ".join(self.not_exercised) or "nothing left out")


def summarise(checks: Iterable[Check]) -> Summary:
    """Count the checks by status."""
    states = [check.status for check in checks]
    return Summary(*(states.count(state) for state in ("passed", "failed", "skipped", "known")))


def not_exercised(
    checks: Iterable[Check],
    suites: Iterable[str],
    chosen: Iterable[str],
    groups: Iterable[str] = (),
) -> list[str]:
    """What a run says nothing about.

    Args:
        checks: the results; the reason of a skip is given once.
        suites: all that there are.
        chosen: those that were run.
        groups: groups of checks that the profile left out.
    """
    lines = [f"suite {name} (not asked for)" for name in sorted(set(suites) - set(chosen))]
    if names := ", ".join(groups):
        lines.append(f"{names} (only with --profile full)")
    reasons: dict[str, list[str]] = {}
    for check in checks:
        if check.status == "skipped":
            reasons.setdefault(check.detail, []).append(check.id)
    for reason, ids in reasons.items():
        some = ", ".join(sorted({name.split("[")[0] for name in ids})[:3])
        more = len({name.split("[")[0] for name in ids}) - 3
        lines.append(f"{some}{f' and {more} more' if more > 0 else ''}: {reason}")
    return lines


def read(path: Path) -> Report:
    """Read a report.

    Raises:
        FileFormatError: it is no report, or of another schema.
    """
    try:
        report = msgspec.json.decode(path.read_bytes(), type=Report)
    except (OSError, msgspec.DecodeError, msgspec.ValidationError) as error:
        raise FileFormatError(
            f"{path} is not a verification report",
            str(error),
            "give a report.json that `tfenv verify --report DIR` wrote",
        ) from error
    if report.schema != SCHEMA:
        raise FileFormatError(
            f"{path} has schema {report.schema}",
            f"this version reads schema {SCHEMA}",
            "write it again with this version of tfenv",
        )
    return report
