"""What an exam found, as it is kept, and as a page.

python -m tests.wheels.exam_result writes docs/evidence/exam.md from the records beside it.
"""

from __future__ import annotations

import datetime
from pathlib import Path

import msgspec

from tests.wheels.suite_parts import Listed, listing
from tfenv.files import write_text

PAGE = Path(__file__).resolve().parents[2] / "docs" / "evidence" / "exam.md"
INTRODUCTION = """# The mutation exam

Every check of the suite names a *broken subject* that it must catch: a released wheel's environment
with one thing wrong. `nox -s exam -- TARGET` makes each of them, verifies it by the files of the
checks that name it, and verifies an unbroken copy beside it by the same files. A subject is caught
when every check that names it, and that passes on the unbroken copy, fails. The records lie beside
this page in `exam/`; a verdict is kept until the subject or a file of its checks changes.

"""


class Healthy(msgspec.Struct, frozen=True):
    """How the checks of one file ended in an unbroken copy."""

    file: str
    statuses: dict[str, str]
    seconds: float
    digest: str

    @property
    def failed(self) -> list[str]:
        """Checks that the copying, or the wheel itself, makes fail."""
        return [name for name, status in self.statuses.items() if status == "failed"]


class Verdict(msgspec.Struct, frozen=True):
    """How one broken subject fared.

    Attributes:
        named: the checks that must catch it and that hold in the unbroken copy.
        caught_by: those of them that failed.
        also_failed: other checks of the same files that failed.
        unproven: checks that claim to catch this subject, hold in the unbroken copy, and did not
            fail in any of their cases.
        says: what the first of `caught_by` said.
    """

    name: str
    breaks: str
    named: list[str]
    caught_by: list[str]
    also_failed: list[str]
    unproven: list[str]
    says: str
    seconds: float
    digest: str

    @property
    def caught(self) -> bool:
        """Whether all the checks that have to catch this subject failed."""
        return bool(self.named) and self.named == self.caught_by

    @property
    def word(self) -> str:
        """The verdict in one word of six letters."""
        if not self.named:
            return "absent"  # this release has none of its checks
        return "caught" if self.caught else "MISSED"


class Exam(msgspec.Struct):
    """All the verdicts of one release."""

    target: str
    wheel: str
    date: str = ""
    healthy: list[Healthy] = []
    verdicts: list[Verdict] = []

    def add(self, verdict: Verdict) -> None:
        """Put a verdict in the place of an older one of the same subject."""
        others = [v for v in self.verdicts if v.name != verdict.name]
        self.verdicts = sorted([*others, verdict], key=lambda v: v.name)
        self.date = datetime.datetime.now(tz=datetime.timezone.utc).date().isoformat()

    def take_over(self, other: Exam) -> None:
        """Add what only another record of this release has."""
        names, files = {v.name for v in self.verdicts}, {h.file for h in self.healthy}
        more = [v for v in other.verdicts if v.name not in names]
        self.verdicts = sorted([*self.verdicts, *more], key=lambda v: v.name)
        self.healthy += [h for h in other.healthy if h.file not in files]
        self.healthy.sort(key=lambda h: h.file)
        self.date = max(self.date, other.date)

    def text(self) -> bytes:
        """The record: one line per verdict, for reading a diff."""
        text = msgspec.json.encode(self)
        return text.replace(b'},{"', b'},\n{"') + b"\n"


def read(path: Path) -> Exam:
    """A record."""
    return msgspec.json.decode(path.read_bytes(), type=Exam)


def seen_to_fail(exams: list[Exam], checks: list[Listed]) -> tuple[list[str], list[str]]:
    """Checks that failed on a subject that they name, and those that did not yet; without cases."""
    proven = {
        (verdict.name, check.split("[")[0])
        for exam in exams
        for verdict in exam.verdicts
        for check in [*verdict.caught_by, *verdict.also_failed]
    }
    names = {check.name: check.catches for check in checks}
    seen = [name for name in names if any((s, name) in proven for s in names[name])]
    return sorted(seen), sorted(names.keys() - set(seen))


def page(exams: list[Exam], checks: list[Listed]) -> str:
    """The page of some exams."""
    seen, unseen = seen_to_fail(exams, checks)
    count = len(seen) + len(unseen)
    said = f"Of {count} checks, those with many cases counted once, {len(seen)} have been seen to "
    parts = [INTRODUCTION, said + "fail on a broken subject that they name."]
    if unseen:
        parts.append(" Not yet: " + ", ".join(f"`{name}`" for name in unseen) + ".")
    parts.append("\n\n")
    for exam in exams:
        examined = [v for v in exam.verdicts if v.named]
        caught = sum(v.caught for v in examined)
        wrong = sorted({name for h in exam.healthy for name in h.failed})
        held = sum(len(h.statuses) - len(h.failed) for h in exam.healthy)
        minutes = sum(v.seconds for v in exam.verdicts) / 60
        parts.append(
            f"## {exam.target}\n\n{exam.wheel}, {exam.date}: {caught} of {len(examined)} broken "
            f"subjects caught in {minutes:.0f} minutes of one process. The unbroken copy: "
            f"{held} results that are not failures, "
            f"{'failed: ' + ', '.join(wrong) if wrong else 'none that is'}.\n\n"
            "| subject: what it breaks | caught by | what the first one says | s |\n"
            "| --- | --- | --- | ---: |\n"
        )
        parts += [row(verdict) for verdict in examined]
        parts.append("\n")
    return "".join(parts).rstrip() + "\n"


def row(verdict: Verdict) -> str:
    """A verdict as a row of the table."""
    missed = [f"**not by {name}**" for name in verdict.named if name not in verdict.caught_by]
    by = ", ".join([*(f"`{name}`" for name in verdict.caught_by), *missed])
    says = cell(verdict.says[:160] + ("…" if len(verdict.says) > 160 else ""))
    return f"| {verdict.name}: {cell(verdict.breaks)} | {by} | {says} | {verdict.seconds:.0f} |\n"


def cell(text: str) -> str:
    """Text that may stand in a table's cell."""
    return "".join(
        {"|": "\\|", "<": "&lt;", "*": "\\*", "_": "\\_", "`": "\\`"}.get(c, c) for c in text
    )


def main() -> None:
    """Write the page from the records."""
    records = sorted((PAGE.parent / "exam").glob("*.json"), key=version)
    write_text(PAGE, page([read(path) for path in records], listing()))


def version(path: Path) -> list[int]:
    """The order of records: by release."""
    return [int(number) for number in path.stem.split("-")[0].split(".")]


if __name__ == "__main__":
    main()
