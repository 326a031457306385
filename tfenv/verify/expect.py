"""What the suite should find in a subject: `expect.json`."""

from __future__ import annotations

from typing import Any

from tfenv.render import expect
from tfenv.verify.subject import Subject


def expected(subject: Subject, device: str) -> dict[str, Any]:
    """The content of expect.json for one subject."""
    return expect.fields(
        subject.target,
        distribution=subject.distribution,
        python=subject.python,
        versions=subject.versions,
        device=device,
        released=subject.wheel is None,
    )
