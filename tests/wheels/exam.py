"""The mutation exam: every broken subject must fail, by the checks that name it.

    python -m tests.wheels.exam [--again] [TARGET] [NAME…]

Each subject is a copy of a released wheel's environment with one thing wrong. It is verified by
the files of the checks that name it, and so is an unbroken copy beside it: a check counts only when
it fails there and does not fail here. The results are kept after every subject, in
docs/evidence/exam/, and a later run takes those whose subject and checks are still the same; with
`--again` none.
"""

from __future__ import annotations

import contextlib
import hashlib
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import filelock

from bench.evidence_pages import without_folders
from tests.wheels import exam_result, subjects
from tests.wheels.exam_result import Exam, Healthy, Verdict
from tests.wheels.suite_parts import listing
from tfenv import target as targets
from tfenv.files import write_bytes
from tfenv.resources import suite
from tfenv.verify import drive, environment, interpreter, stage, subject
from tfenv.verify.interpreter import python_in
from tfenv.verify.result import Report

IMPORT = "device.import"
RECORDS = Path(__file__).resolve().parents[2] / "docs" / "evidence" / "exam"


def healthy(target: targets.Target) -> environment.Environment:
    """The environment that the broken ones are copied from."""
    pythons = subject.locked_pythons(target)
    found = interpreter.find(pythons, uv=environment.uv_program())
    return environment.make(subject.of(target, found.minor), found)


def described(target: targets.Target) -> str:
    """Which wheel is examined, and in which Python."""
    found = interpreter.find(subject.locked_pythons(target), uv=environment.uv_program())
    return f"{subject.of(target, found.minor).describe()}, Python {found.version}"


def verify(target: targets.Target, python: Path, files: list[str], device: str = "auto") -> Report:
    """Verify an installed TensorFlow as it is, by some areas or files of the suite."""
    with tempfile.TemporaryDirectory(dir=environment.cache_folder()) as folder:
        request = stage.Request(
            target=target,
            python=str(python),
            engine="host",
            orders=drive.Orders(suites=tuple(files), profile="full", count=1),
            device=device,
            folder=Path(folder),
        )
        return stage.verify(request, lambda _: None, lambda _: None)


def applies(broken: subjects.Broken, target: targets.Target) -> bool:
    """Whether this release can be broken in this way."""
    return targets.within(target.version, broken.releases)


def digest(name: str, files: list[str]) -> str:
    """What a verdict depends on: the subject, and the files of its checks."""
    state = hashlib.sha256()
    folder = subjects.FOLDER / name
    own = sorted(p for p in folder.glob("*.*") if p.is_file()) if name else []
    for path in own + [suite() / file for file in files]:
        state.update(path.name.encode() + b"\0" + path.read_bytes())
    return state.hexdigest()[:16]


class Sitting:
    """One exam of one release."""

    def __init__(self, target: targets.Target, folder: Path, record: Path) -> None:
        self.target = target
        self.base = healthy(target)
        self.folder = folder
        self.record = record
        self.checks = listing()
        self.result = Exam(target=target.name, wheel=described(target))

    def keep_old(self) -> None:
        """Drop the verdicts of an earlier run that do not hold any more."""
        if not self.record.exists():
            return
        old = exam_result.read(self.record)
        there = {broken.name: broken for broken in subjects.all_subjects()}
        old.healthy = [h for h in old.healthy if h.digest == digest("", [h.file])]
        old.verdicts = [
            verdict
            for verdict in old.verdicts
            if verdict.name in there
            and verdict.digest == digest(verdict.name, self.files_for(there[verdict.name]))
        ]
        self.result.take_over(old)
        write_bytes(self.record, old.text())

    def files_for(self, broken: subjects.Broken) -> list[str]:
        """The files of the checks that have to catch a subject."""
        return sorted({check.file for check in self.checks if check.id in broken.caught_by})

    def healthy_statuses(self, files: list[str]) -> dict[str, str]:
        """How every check of some files ends in an unbroken copy, which is not what fails them."""
        found: dict[str, str] = {}
        for file in files:
            kept = next((h for h in self.result.healthy if h.file == file), None)
            found |= (kept or self.examine_healthy(file)).statuses
        return found

    def examine_healthy(self, file: str) -> Healthy:
        report = verify(self.target, python_in(self.shared_copy()), [file])
        statuses: dict[str, str] = {check.id: check.status for check in report.checks}
        made = Healthy(
            file=file,
            statuses=statuses,
            seconds=report.seconds,
            digest=digest("", [file]),
        )
        self.result.healthy.append(made)
        failed = [check.id for check in report.failures()]
        say("WRONG " if failed else "right ", f"({file}, unbroken)", report.seconds, failed)
        return made

    @contextlib.contextmanager
    def broken_copy(self, broken: subjects.Broken) -> Iterator[Path]:
        """The Python of a broken copy: the shared one for as long, or one of its own."""
        if broken.only_adds:
            home = self.shared_copy()
            subjects.add(broken, home, self.target.version)
            try:
                yield python_in(home)
            finally:
                subjects.take_away(home)
            return
        home = self.folder / broken.name
        try:
            yield subjects.make(broken, self.home(), home, self.target.version)
        finally:
            subjects.free(home)

    def shared_copy(self) -> Path:
        """An unbroken copy, made once."""
        home = self.folder / "unbroken"
        if not home.exists():
            subjects.copy(self.home(), home)
        return home

    def home(self) -> Path:
        return self.base.python.parent.parent

    def examine(self, broken: subjects.Broken) -> Verdict:
        """Make one broken subject, verify it, and remove it."""
        started = time.monotonic()
        files = self.files_for(broken)
        fine = self.healthy_statuses(files)
        name = f"{self.target.version}-{broken.variant}" if broken.variant else self.target.name
        with self.broken_copy(broken) as python:
            report = verify(targets.parse(name), python, files, broken.device)
        # What could not run for another check's crash was not caught by anything.
        failed = {c.id: c.detail for c in report.failures() if not c.detail.startswith("not run:")}
        # What the healthy wheel is not asked for has no control here: only a GPU would have it.
        enough = {"passed", "known", "skipped"} if broken.variant else {"passed", "known"}
        holds = {name for name, status in fine.items() if status in enough}
        named = [check for check in broken.caught_by if check in holds]
        if IMPORT in named and IMPORT in failed:
            named = [IMPORT]  # nothing else could run
        claims = {c.name for c in self.checks if broken.name in c.catches and c.id in holds}
        return Verdict(
            name=broken.name,
            breaks=broken.breaks,
            named=named,
            caught_by=[check for check in named if check in failed],
            also_failed=sorted(failed.keys() - set(named)),
            unproven=sorted(claims - {check.split("[")[0] for check in failed}),
            says=without_folders(next((failed[c] for c in named if c in failed), ""))[:300],
            seconds=round(time.monotonic() - started, 1),
            digest=digest(broken.name, files),
        )

    def write(self) -> None:
        """Keep the record, with what another run has found in the meantime."""
        with filelock.FileLock(environment.cache_folder() / f"exam-{self.target.name}.lock"):
            if self.record.exists():
                self.result.take_over(exam_result.read(self.record))
            write_bytes(self.record, self.result.text())

    def run(self, chosen: list[subjects.Broken], again: bool) -> None:
        """Examine the subjects that have no verdict yet; every verdict is written as it comes."""
        kept = [] if again else self.result.verdicts
        done = {verdict.name for verdict in kept if verdict.word != "MISSED"}
        for broken in chosen:
            if broken.name in done:
                continue
            verdict = self.examine(broken)
            self.result.add(verdict)
            self.write()
            say(
                verdict.word,
                verdict.name,
                verdict.seconds,
                verdict.caught_by or verdict.also_failed,
            )


def say(word: str, name: str, seconds: float, failed: list[str]) -> None:
    words = ", ".join(failed[:4]) or "nothing failed"
    sys.stdout.write(f"{word}  {name:34} {seconds:5.1f} s  {words}\n")
    sys.stdout.flush()


def main(arguments: list[str]) -> int:
    """Run the exam; 0 when every broken subject was caught."""
    again = "--again" in arguments
    rest = [argument for argument in arguments if argument != "--again"]
    target = targets.parse(rest[0] if rest else "2.6.5-cpu")
    names = set(rest[1:])
    chosen = [
        b for b in subjects.all_subjects() if applies(b, target) and (not names or b.name in names)
    ]
    with tempfile.TemporaryDirectory(dir=environment.cache_folder()) as folder:
        sitting = Sitting(target, Path(folder), RECORDS / f"{target.name}.json")
        sitting.keep_old()
        sitting.run(chosen, again)
    exam_result.main()
    verdicts = [v for v in sitting.result.verdicts if v.name in {b.name for b in chosen}]
    missed = [verdict.name for verdict in verdicts if verdict.named and not verdict.caught]
    caught = sum(verdict.caught for verdict in verdicts)
    sys.stdout.write(f"{caught} of {len(chosen)} broken subjects caught\n")
    for name in missed:
        sys.stdout.write(f"missed: {name}\n")
    return 1 if missed or not caught else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
