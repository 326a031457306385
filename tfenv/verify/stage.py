"""One verification from start to end."""

from __future__ import annotations

import platform
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from tfenv.errors import ConflictError, EnvironmentFailedError, NotHereError, UsageError
from tfenv.target import Target
from tfenv.toolchain.model import Choices
from tfenv.toolchain.python import python as choose_python
from tfenv.verify import drive, environment, interpreter, subject
from tfenv.verify.expect import expected
from tfenv.verify.explained import explained
from tfenv.verify.result import Check, Report, not_exercised, summarise

if TYPE_CHECKING:
    from tfenv.diagnose.doctor import Finding

# Shared libraries that the machine or the CUDA packages bring, never TensorFlow's own wheel.
_CUDA_LIBRARY = re.compile(
    r"lib(cublas|cublasLt|cudart|cudnn|cufft|curand|cusolver|cusparse|nccl|nvinfer|cupti|cuda"
    r"|nvrtc|nvJitLink)[A-Za-z0-9_.-]*\.so[0-9.]*(?=: cannot open shared object)"
)


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What the user asks of a verification."""

    target: Target
    wheel: Path | None = None
    python: str = ""
    engine: str = "venv"  # venv: made from the lock; host: the given Python as it is
    orders: drive.Orders = drive.Orders()
    device: str = "auto"
    index: str = ""
    folder: Path  # where the run's files go


def verify(
    request: Request, say: Callable[[str], None], on_check: Callable[[Check], None]
) -> Report:
    """Make the environment, run the suite, gather the report.

    Raises:
        NotHereError: the target is for another operating system.
        EnvironmentFailedError: there is no Python, no environment, or CUDA's libraries are absent.
    """
    started = time.monotonic()
    require_system(request.target)
    python, site, item, extra = _environment(request, say)
    say(f"verifying {item.describe()} with Python {extra['python']}")
    outcome = drive.run(
        python,
        site,
        expected(item, request.device),
        request.folder,
        request.orders,
        on_check,
    )
    checks = list(outcome.checks)
    if request.engine != "host":
        checks.append(_consistency(python))
        on_check(checks[-1])
    require_cuda_libraries(request.target, checks)
    checks = explained(checks, request.target, lambda: _doctor(request.target, python))
    header = outcome.header
    return Report(
        target=request.target.name,
        wheel=item.describe(),
        environment=extra | {"profile": request.orders.profile, "device": request.device},
        summary=summarise(checks),
        not_exercised=not_exercised(
            checks, header["all_suites"], header["suites"], header["left_out"]
        ),
        checks=checks,
        seconds=round(time.monotonic() - started, 1),
        peak_bytes=outcome.peak_bytes,
    )


def _environment(
    request: Request, say: Callable[[str], None]
) -> tuple[Path, Path, subject.Subject, dict[str, object]]:
    pythons = subject.locked_pythons(request.target)
    _check_python(request, pythons)
    uv = environment.uv_program()
    if request.engine == "host" and not request.python:
        raise UsageError(
            "--engine host needs --python",
            "it verifies the TensorFlow that a Python already has",
            "add --python with that Python's path, or leave --engine out",
        )
    found = interpreter.find(pythons, request.python, uv=uv)
    item = subject.of(request.target, found.minor, request.wheel)
    extra: dict[str, object] = {
        "python": found.version,
        "interpreter": str(found.path),
        "found": found.place,
        "machine": platform.platform(),
        "engine": request.engine,
        "packages": item.versions,
    }
    if request.engine == "host":
        site = environment.suite_folder(item, found, index=request.index, say=say)
        return found.path, site, item, extra
    made = environment.make(item, found, index=request.index, say=say)
    extra["environment"] = {"key": made.key, "made": made.made}
    return made.python, made.site, item, extra


def _check_python(request: Request, pythons: list[str]) -> None:
    """A minor that was asked for must be one that the release supports, and that has a lock.

    Raises:
        ConflictError: it is not; the nearest choice is named.
    """
    minor = request.python
    if not re.fullmatch(r"\d+\.\d+", minor) or minor in pythons:
        return
    choose_python(request.target, Choices(python=minor))
    raise ConflictError(
        f"{request.target.name} has no shipped lock for Python {minor}",
        f"it can be verified with Python {', '.join(pythons)}",
        f"--python {pythons[0]}",
    )


def _doctor(target: Target, python: Path) -> list[Finding]:
    from tfenv.diagnose.doctor import findings
    from tfenv.diagnose.probe import this_machine

    return findings(this_machine(str(python)), target.version, target_cuda=target.cuda)


def _consistency(python: Path) -> Check:
    started = time.monotonic()
    fine, words = environment.consistency(python)
    return Check(
        id="device.consistent",
        suite="device",
        status="passed" if fine else "failed",
        detail=words,
        seconds=round(time.monotonic() - started, 3),
        group="tfenv",
    )


def require_system(target: Target) -> None:
    """The target's wheel must be one that this machine can run."""
    system = {"linux": "linux", "darwin": "macos", "win32": "windows"}.get(sys.platform, "")
    machine = platform.machine().lower()
    arm = machine in {"arm64", "aarch64"}
    same_machine = target.platform.endswith(("aarch64", "arm64")) == arm
    if target.product != "wheel":
        raise NotHereError(
            f"{target.name} cannot be verified yet",
            f"the suite runs in Python, and the product '{target.product}' is a library",
            f"verify the wheel: tfenv verify {msgspec.structs.replace(target, product='wheel').name}",
        )
    # Apple's arm64 runs x86_64 programs as well.
    if target.platform.startswith(system or "?") and (same_machine or system == "macos"):
        return
    raise NotHereError(
        f"{target.name} cannot be verified here",
        f"it is a {target.platform} target and this machine is {system or sys.platform} {machine}",
        "run the same command on such a machine",
    )


def require_cuda_libraries(target: Target, checks: list[Check]) -> None:
    """A wheel that links CUDA directly cannot even be imported without it: that says nothing
    about the wheel, so it is the environment that failed."""
    if not target.cuda:
        return
    for check in checks:
        found = _CUDA_LIBRARY.search(check.detail) if check.id == "device.import" else None
        if found and check.status == "failed":
            raise EnvironmentFailedError(
                f"{target.name} cannot be imported on this machine",
                f"its native library is linked against {found.group()}, which is not found here",
                f"install the CUDA libraries that `tfenv show {target.name}` lists "
                "and put their folder on LD_LIBRARY_PATH",
            )
