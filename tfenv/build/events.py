"""Bazel's Build Event Protocol, as far as a build's progress and result need it.

Bazel appends one JSON object per line to the file of `--build_event_json_file`. Counts of actions
come from the progress messages (`[12 / 345] Compiling x.cc`), because only failed actions have
events of their own; what was executed and what came from a cache comes with the last events.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

_ACTIONS = re.compile(r"^\[([\d,]+) / ([\d,]+)\] (?:\[[A-Za-z-]+\] )?(.*)$")
_PROCESSES = re.compile(r"^INFO: ([\d,]+) process(?:es)?: (.*)\.$")
_PART = re.compile(r"([\d,]+) ([a-z][a-z -]*)")
_LONGEST = 200  # characters of an action's name that are kept


class Progress(msgspec.Struct, frozen=True, kw_only=True):
    """How far a Bazel build is."""

    done: int = 0
    total: int = 0
    action: str = ""
    executed: int | None = None  # at the end: actions that ran
    cache_hits: int | None = None  # at the end: processes whose results came from a cache
    processes: int | None = None
    failed: list[str] = []  # labels of failed actions
    exit_name: str = ""  # SUCCESS, BUILD_FAILURE, ...

    @property
    def finished(self) -> bool:
        """Whether Bazel has ended."""
        return bool(self.exit_name)


class Follower:
    """Reads a growing file of build events."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._position = 0
        self.progress = Progress()

    def read(self) -> Progress:
        """Take in what was written since the last call; half a line waits for its end."""
        for event in self._new():
            self.progress = advance(self.progress, event)
        return self.progress

    def _new(self) -> Iterator[dict[str, Any]]:
        try:
            with self._path.open("rb") as stream:
                stream.seek(self._position)
                data = stream.read()
        except FileNotFoundError:
            return
        whole, newline, _ = data.rpartition(b"\n")
        self._position += len(whole) + len(newline)
        for line in whole.splitlines():
            try:
                event = json.loads(line)
            except ValueError:
                continue  # a line that is no JSON says nothing that could be used
            if isinstance(event, dict):
                yield event


def advance(progress: Progress, event: dict[str, Any]) -> Progress:
    """The progress after one event. Unknown events, and odd values in known ones, change nothing."""
    kinds = event.get("id")
    if not isinstance(kinds, dict):
        return progress
    if "progress" in kinds:
        return read_lines(progress, _text(event, "progress", "stderr"))
    if "actionCompleted" in kinds and not _at(event, "action", "success"):
        label = _text(event, "id", "actionCompleted", "label")
        return msgspec.structs.replace(progress, failed=[*progress.failed, label[:_LONGEST]])
    if "buildFinished" in kinds:
        name = _text(event, "finished", "exitCode", "name") or "UNKNOWN"
        return msgspec.structs.replace(progress, exit_name=name)
    if "buildMetrics" in kinds:
        executed = _text(event, "buildMetrics", "actionSummary", "actionsExecuted")
        if executed.isascii() and executed.isdigit():
            return msgspec.structs.replace(progress, executed=int(executed))
    return progress


def read_lines(progress: Progress, text: str) -> Progress:
    """The progress after lines of Bazel's output."""
    for line in text.splitlines():
        if found := _ACTIONS.match(line):
            progress = msgspec.structs.replace(
                progress,
                done=_number(found[1]),
                total=_number(found[2]),
                action=found[3][:_LONGEST],
            )
        elif found := _PROCESSES.match(line):
            parts = {name.strip(): _number(count) for count, name in _PART.findall(found[2])}
            hits = sum(count for name, count in parts.items() if "cache hit" in name)
            internal = parts.get("internal", 0)
            progress = msgspec.structs.replace(
                progress, processes=_number(found[1]) - internal, cache_hits=hits
            )
    return progress


def _number(text: str) -> int:
    return int(text.replace(",", ""))


def _at(event: Any, *path: str) -> Any:
    for name in path:
        event = event.get(name) if isinstance(event, dict) else None
    return event


def _text(event: Any, *path: str) -> str:
    value = _at(event, *path)
    return value if isinstance(value, str) else ""
