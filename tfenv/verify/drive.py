"""Start the suite and read its results as they come."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from tfenv.errors import EnvironmentFailedError, UsageError
from tfenv.files import write_text
from tfenv.resources import suite
from tfenv.verify.result import Check

_POLL = 0.1  # seconds between two looks at the results
_MAX_LINE = 1 << 20


class Orders(msgspec.Struct, frozen=True, kw_only=True):
    """How the suite is to be run."""

    suites: tuple[str, ...] = ()  # empty: all
    profile: str = "quick"
    count: int = 2  # groups at a time


class Outcome(msgspec.Struct, frozen=True):
    """What the suite wrote."""

    header: dict[str, Any]
    checks: list[Check]
    peak_bytes: int = 0  # resident in the largest process; 0: not known


def run(
    python: Path,
    site: Path | None,
    expected: dict[str, Any],
    folder: Path,
    orders: Orders,
    on_check: Callable[[Check], None],
) -> Outcome:
    """Run the suite with the subject's Python; `on_check` sees every result as it comes.

    Args:
        folder: gets expect.json, results.jsonl and logs/.

    Raises:
        EnvironmentFailedError: the suite itself could not start.
    """
    folder.mkdir(parents=True, exist_ok=True)
    expect, results = folder / "expect.json", folder / "results.jsonl"
    write_text(expect, json.dumps(expected, indent=1, sort_keys=True) + "\n")
    results.unlink(missing_ok=True)
    command = [str(python), "-I", str(suite() / "run.py")]
    command += ["--expect", str(expect), "--out", str(results), "--logs", str(folder / "logs")]
    command += ["--profile", orders.profile, "-n", str(orders.count)]
    command += ["--site", str(site)] if site else []
    command += ["--suite", ",".join(orders.suites)] if orders.suites else []
    with (folder / "run.log").open("wb") as log:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT
        )
        try:
            outcome = _follow(process, results, on_check)
        finally:
            _stop(process)
    if process.returncode not in (0, 1) or not outcome.header:
        said = (folder / "run.log").read_text("utf-8", errors="replace").strip()
        raise EnvironmentFailedError(
            "the verification suite could not run",
            said[-500:] or f"its driver ended with status {process.returncode}",
            f"see {folder / 'logs'}",
        )
    return outcome


def _stop(process: subprocess.Popen[bytes]) -> None:
    """End the suite, whose own groups end with it."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
    process.wait()


def _follow(
    process: subprocess.Popen[bytes], results: Path, on_check: Callable[[Check], None]
) -> Outcome:
    header: dict[str, Any] = {}
    checks: list[Check] = []
    position = peak = 0
    while True:
        ended = process.poll() is not None
        lines, position = complete_lines(results, position)
        for line in lines:
            record = msgspec.json.decode(line)
            if record.get("kind") == "header":
                header = record
                continue
            if record.get("kind") == "footer":
                peak = record["peak_bytes"]
                continue
            check = msgspec.convert(record, Check)
            checks.append(check)
            on_check(check)
        if ended:
            return Outcome(header, checks, peak)
        time.sleep(_POLL)


def complete_lines(path: Path, position: int) -> tuple[list[bytes], int]:
    """The complete lines of a growing file after `position`, and the new position."""
    if not path.exists():
        return [], position
    with path.open("rb") as stream:
        stream.seek(position)
        text = stream.read(64 * _MAX_LINE)
    end = text.rfind(b"\n") + 1
    return [line for line in text[:end].split(b"\n") if line], position + end


def chosen_suites(text: str) -> tuple[str, ...]:
    """The suites of `a,b`; empty for all.

    Raises:
        UsageError: there is no such suite.
    """
    known = known_suites()
    chosen = tuple(name.strip() for name in text.split(",") if name.strip())
    for name in chosen:
        if name not in known:
            raise UsageError(
                f"there is no suite '{name}'",
                "a suite is one of the areas that the verification has",
                f"choose from {', '.join(known)}",
            )
    return chosen


def known_suites() -> list[str]:
    """The areas of the suite, from its own list of groups."""
    groups = msgspec.json.decode((suite() / "groups.json").read_bytes())["groups"]
    return sorted({file.split("/")[0] for group in groups for file in group["files"]})


def default_count() -> int:
    """Groups at a time: the machine's cores, at most two, for memory's sake."""
    return min(2, os.cpu_count() or 1)
