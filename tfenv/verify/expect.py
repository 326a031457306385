"""What the suite should find in a subject: `expect.json`."""

from __future__ import annotations

from typing import Any

from tfenv.render import expect
from tfenv.verify.subject import Subject


def expected(subject: Subject, device: str) -> dict[str, Any]:
    """The content of expect.json for one subject."""
    found = expect.fields(
        subject.target,
        distribution=subject.distribution,
        python=subject.python,
        versions=expected_versions(subject),
        device=device,
        released=subject.wheel is None,
    )
    # A listed defect that is absent means something else in the released wheel than in another.
    found["released"] = subject.wheel is None
    return found


def expected_versions(subject: Subject) -> dict[str, str]:
    """The locked packages; a wheel given as a file may have another name and a local version."""
    versions = dict(subject.versions)
    if subject.wheel is not None:
        versions.pop(subject.distribution, None)
    return versions
