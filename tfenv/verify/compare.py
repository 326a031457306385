"""What changed between two reports: of two releases, or of two builds of one."""

from __future__ import annotations

import msgspec

from tfenv.verify.result import Check, Report


class Change(msgspec.Struct, frozen=True):
    """One check that ended differently, or that only one report has."""

    id: str
    before: str  # a status, or "absent"
    after: str
    detail: str
    worse: bool


class Comparison(msgspec.Struct, frozen=True):
    """Two reports side by side."""

    before: str
    after: str
    changes: list[Change]
    same: int

    @property
    def right(self) -> bool:
        """Whether nothing became worse."""
        return not any(change.worse for change in self.changes)


def compare(before: Report, after: Report) -> Comparison:
    """Compare by check id. Worse is: a check that passed does not pass any more."""
    old = {check.id: check for check in before.checks}
    new = {check.id: check for check in after.checks}
    changes = [
        _change(name, old.get(name), new.get(name))
        for name in sorted(old.keys() | new.keys())
        if _status(old.get(name)) != _status(new.get(name))
    ]
    return Comparison(
        before.wheel, after.wheel, changes, len(old.keys() | new.keys()) - len(changes)
    )


def _status(check: Check | None) -> str:
    return "absent" if check is None else check.status


def _change(name: str, old: Check | None, new: Check | None) -> Change:
    was, now = _status(old), _status(new)
    worse = now == "failed" or (was == "passed" and now != "passed")
    return Change(name, was, now, new.detail if new else "", worse)
