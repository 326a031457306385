"""The matrix of CI jobs for many targets, as files of GitHub, GitLab and Slurm."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

import msgspec

from tfenv import toolchain
from tfenv.build import preflight
from tfenv.build.engines import EngineName
from tfenv.errors import ConflictError
from tfenv.facts import schema
from tfenv.render import engine as templates
from tfenv.target import Target

CiFormat = Literal["github", "gitlab", "slurm"]
FORMATS: tuple[CiFormat, ...] = get_args(CiFormat)

_TEMPLATES: dict[CiFormat, str] = {
    "github": "build/github.yml.j2",
    "gitlab": "build/gitlab.yml.j2",
    "slurm": "build/slurm.sh.j2",
}
# Labels of GitHub's hosted runners, and tags of GitLab's.
_RUNNERS: dict[schema.Platform, tuple[str, str]] = {
    "linux-x86_64": ("ubuntu-24.04", "saas-linux-large-amd64"),
    "linux-aarch64": ("ubuntu-24.04-arm", "saas-linux-large-arm64"),
    "macos-x86_64": ("macos-15-intel", "saas-macos-large-m2pro"),
    "macos-arm64": ("macos-15", "saas-macos-large-m2pro"),
    "windows-x86_64": ("windows-2022", "saas-windows-medium-amd64"),
}
_JOBS = 16  # cores that a Slurm task asks for


class Job(msgspec.Struct, frozen=True):
    """One target's job."""

    target: str
    runner: str
    tag: str
    engine: EngineName
    python: str
    verify: bool  # the verification suite is for wheels


def jobs(targets: Sequence[Target], engine: EngineName, *, verify: bool = True) -> list[Job]:
    """A job per target. Containers are for Linux: other systems build on the host."""
    return [
        Job(
            target.name,
            *_RUNNERS[target.platform],
            engine if target.linux else "host",
            toolchain.choose(target).get("python"),
            verify and target.product == "wheel",
        )
        for target in dict.fromkeys(targets)
    ]


def render(
    targets: Sequence[Target], form: CiFormat, engine: EngineName, *, verify: bool = True
) -> str:
    """The text of the file.

    Raises:
        ConflictError: the scheduler cannot run one of the targets.
    """
    others = [target.name for target in targets if not target.linux]
    if form == "slurm" and others:
        raise ConflictError(
            f"Slurm cannot run {', '.join(others)}",
            "the target is not for Linux",
            "leave it out, or use --format github",
        )
    memory = max(preflight.need(target).job_mb for target in targets) * _JOBS
    context = {
        "jobs": jobs(targets, engine, verify=verify),
        "engine": engine,
        "memory_gb": -(-memory // 1000),
    }
    return templates.render(_TEMPLATES[form], context)
