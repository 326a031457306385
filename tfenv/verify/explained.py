"""Why a check failed, where the diagnosis knows it: a failed import, a GPU that is not seen."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import msgspec

from tfenv.diagnose.doctor import Finding
from tfenv.diagnose.explain import NONE, UNKNOWN, explain_text
from tfenv.errors import MissingExtraError
from tfenv.target import Target
from tfenv.verify.result import Check

_GPU_CHECKS = ("device.gpu", "device.cuda_libraries")


def explained(
    checks: Iterable[Check], target: Target, doctor: Callable[[], list[Finding]]
) -> list[Check]:
    """The same checks, with the cause behind the detail of those that it is known for.

    Args:
        checks: the results.
        target: what was verified.
        doctor: looks at this machine; called once, and only if a GPU check needs it.
    """
    found: list[Finding] | None = None
    result = []
    for check in checks:
        if check.id == "device.import" and check.status == "failed":
            result.append(_import(check, target))
        elif target.cuda and check.id.startswith(_GPU_CHECKS) and check.status != "passed":
            found = doctor() if found is None else found
            result.append(_gpu(check, found))
        else:
            result.append(check)
    return result


def _import(check: Check, target: Target) -> Check:
    try:
        cause = explain_text(check.detail, target)
    except MissingExtraError:
        return check
    if cause.root_cause in {NONE, UNKNOWN}:
        return check
    fix = f"; {cause.fix[0]}" if cause.fix else ""
    return _with(check, f"{cause.root_cause}: {cause.cause}{fix}")


def _gpu(check: Check, findings: list[Finding]) -> Check:
    worst = next((f for f in findings if f.severity == "error"), None)
    if worst is None:
        return check
    return _with(check, f"doctor says {worst.code}: {worst.detail}; {worst.fix}")


def _with(check: Check, words: str) -> Check:
    return msgspec.structs.replace(check, detail=f"{check.detail} · {words}")
