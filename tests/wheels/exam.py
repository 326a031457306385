"""The mutation exam: every broken subject must fail, by the check that names it.

    python -m tests.wheels.exam [TARGET] [NAME…]

prints a table: what was broken, which checks had to fail, which did, and how long it took.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

import msgspec

from tests.wheels import subjects
from tfenv import target as targets
from tfenv.verify import drive, environment, interpreter, stage, subject
from tfenv.verify.result import Report


class Verdict(msgspec.Struct, frozen=True):
    """How one broken subject fared."""

    name: str
    expected: list[str]
    failed: list[str]
    right: bool  # what the report says of the subject
    seconds: float

    @property
    def caught(self) -> bool:
        """Whether the check that names this subject failed, and with it the report."""
        return not self.right and bool(set(self.expected) & set(self.failed))


def healthy(target: targets.Target) -> environment.Environment:
    """The environment that the broken ones are copied from."""
    pythons = subject.locked_pythons(target)
    found = interpreter.find(pythons, uv=environment.uv_program())
    return environment.make(subject.of(target, found.minor), found)


def examine(
    broken: subjects.Broken, target: targets.Target, base: environment.Environment, folder: Path
) -> Verdict:
    """Make one broken subject, verify it, and remove it."""
    started = time.monotonic()
    home = folder / broken.name
    try:
        python = subjects.make(broken, base.python.parent.parent, home, target.version)
        report = verify(broken, target, python, folder / "report")
    finally:
        subjects.free(home)
    # What could not run for another check's crash was not caught by anything.
    failed = [c.id for c in report.failures() if not c.detail.startswith("not run:")]
    seconds = round(time.monotonic() - started, 1)
    return Verdict(broken.name, broken.caught_by, failed, report.right, seconds)


def verify(broken: subjects.Broken, target: targets.Target, python: Path, folder: Path) -> Report:
    """Verify an installed TensorFlow as it is, in the areas that the subject is about."""
    name = f"{target.version}-{broken.variant}"
    wanted = targets.parse(name) if broken.variant else target
    request = stage.Request(
        target=wanted,
        python=str(python),
        engine="host",
        orders=drive.Orders(
            suites=tuple(broken.suites), profile=broken.profile, count=drive.default_count()
        ),
        folder=folder,
    )
    return stage.verify(request, lambda _: None, lambda _: None)


def applies(broken: subjects.Broken, target: targets.Target) -> bool:
    """Whether this release can be broken in this way."""
    return targets.within(target.version, broken.releases)


def healthy_passes(
    chosen: list[subjects.Broken],
    target: targets.Target,
    base: environment.Environment,
    folder: Path,
) -> bool:
    """Verify an unbroken copy in all the areas: the copying is not what makes the others fail."""
    suites = sorted({suite for broken in chosen for suite in broken.suites})
    nothing = subjects.Broken(breaks="nothing", caught_by=[], suites=suites, name="healthy")
    verdict = examine(nothing, target, base, folder)
    word = "right " if verdict.right else "WRONG "
    failed = ", ".join(verdict.failed[:4]) or "nothing failed"
    sys.stdout.write(f"{word}  {'(an unbroken copy)':28} {verdict.seconds:5.1f} s  {failed}\n")
    sys.stdout.flush()
    return verdict.right


def main(arguments: list[str]) -> int:
    """Run the exam; 0 when every broken subject was caught."""
    target = targets.parse(arguments[0] if arguments else "2.6.5-cpu")
    names = set(arguments[1:])
    base = healthy(target)
    missed = 0
    chosen = [
        b for b in subjects.all_subjects() if applies(b, target) and (not names or b.name in names)
    ]
    with tempfile.TemporaryDirectory(dir=environment.cache_folder()) as folder:
        missed += not healthy_passes(chosen, target, base, Path(folder))
        for broken in chosen:
            verdict = examine(broken, target, base, Path(folder))
            missed += not verdict.caught
            word = "caught" if verdict.caught else "MISSED"
            named = ", ".join(verdict.failed[:4]) or "nothing failed"
            sys.stdout.write(f"{word}  {broken.name:28} {verdict.seconds:5.1f} s  {named}\n")
            sys.stdout.flush()
    sys.stdout.write(f"{len(chosen) - missed} of {len(chosen)} broken subjects caught\n")
    return 1 if missed or not chosen else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
