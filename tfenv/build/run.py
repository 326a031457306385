"""Run one engine command to its end: log, events, progress, interruption."""

from __future__ import annotations

import contextlib
import datetime
import json
import os
import queue
import re
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO

import msgspec

from tfenv.build.commands import Command
from tfenv.build.events import Follower, Progress, read_lines
from tfenv.errors import StoppedError

_STEP = re.compile(r"tfenv: step (\w+) (begin|end|unchanged)")
_POLL_SECONDS = 0.25
_GRACE_SECONDS = 20
_STOP_SECONDS = 60


class Update(msgspec.Struct, frozen=True, kw_only=True):
    """What a progress display needs to know."""

    step: str = ""
    state: str = ""
    bazel: Progress = msgspec.field(default_factory=Progress)


class Journal:
    """`events.jsonl`: one object per line, for programs that watch a build."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._path = path

    def add(self, event: str, **fields: object) -> None:
        """Append one event with its time (UTC)."""
        now = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="milliseconds")
        with self._path.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps({"time": now, "event": event, **fields}) + "\n")


class Ended(msgspec.Struct, frozen=True, kw_only=True):
    """How a command ended."""

    code: int
    step: str  # the step that it was in
    steps: dict[str, str]  # of each step: run or unchanged
    bazel: Progress


def run(
    command: Command,
    variables: dict[str, str],
    log: Path,
    bep: Path,
    journal: Journal,
    leader: Path,
    show: Callable[[Update], None],
) -> Ended:
    """Run a command in a process group of its own.

    Args:
        command: what to run.
        variables: its whole environment, without the command's own variables.
        log: where all its output is kept; appended to.
        bep: where Bazel will write its events.
        journal: where events go.
        leader: file that names the process group while it runs, for `stop_leftover`.
        show: told about progress.

    Raises:
        StoppedError: the user interrupted; the process group has ended.
    """
    watch = _Watch(journal, show, Follower(bep))
    if command.step:
        watch.enter(command.step)
    _stop(command)  # what a build that was killed with all its programs left behind
    process = subprocess.Popen(
        command.words,
        env=variables | command.variables,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    leader.write_text(json.dumps({"pid": process.pid, "words": command.words}), encoding="utf-8")
    assert process.stdout is not None
    lines: queue.Queue[bytes] = queue.Queue()
    reader = threading.Thread(target=_copy, args=(process.stdout, log, lines), daemon=True)
    reader.start()
    try:
        while process.poll() is None:
            watch.take(lines, _POLL_SECONDS)
    except KeyboardInterrupt:
        _stop(command)
        _end(process)
        journal.add("interrupted")
        raise StoppedError(
            "the build was stopped",
            "interrupted by the user",
            "run the same command again: steps that are done are kept",
        ) from None
    finally:
        # A Bazel server may outlive the build and hold the pipe; its output is not waited for.
        reader.join(timeout=5)
        leader.unlink(missing_ok=True)
    watch.take(lines, 0)
    if command.step and not process.returncode:
        watch.leave(command.step)
    return Ended(
        code=process.returncode, step=watch.step, steps=watch.steps, bazel=watch.follower.progress
    )


def _copy(stream: IO[bytes], log: Path, lines: queue.Queue[bytes]) -> None:
    with log.open("ab", buffering=0) as out, stream:
        for line in stream:
            out.write(line)
            lines.put(line)


class _Watch:
    """Turns lines and Bazel's events into updates and journal entries."""

    def __init__(
        self, journal: Journal, show: Callable[[Update], None], follower: Follower
    ) -> None:
        self.journal = journal
        self.show = show
        self.follower = follower
        self.step = ""
        self.steps: dict[str, str] = {}
        self._last = Progress()

    def enter(self, step: str) -> None:
        """A step begins that the command itself does not announce."""
        self._line(f"tfenv: step {step} begin")

    def leave(self, step: str) -> None:
        """It is done."""
        self._line(f"tfenv: step {step} end")

    def take(self, lines: queue.Queue[bytes], seconds: float) -> None:
        deadline = time.monotonic() + seconds
        with contextlib.suppress(queue.Empty):
            while True:
                left = deadline - time.monotonic()
                line = lines.get(timeout=left) if left > 0 else lines.get_nowait()
                self._line(line.decode("utf-8", "replace"))
        progress = self.follower.read()
        if progress != self._last:
            self._last = progress
            self.journal.add("actions", **msgspec.to_builtins(progress))
            self.show(Update(step=self.step, bazel=progress))

    def _line(self, line: str) -> None:
        if found := _STEP.match(line):
            name, state = found[1], found[2]
            if state == "begin":
                self.step = name
            if state != "end":
                self.steps[name] = "unchanged" if state == "unchanged" else "run"
            self.journal.add("step", name=name, state=state)
            self.show(Update(step=name, state=state, bazel=self._last))
        else:
            # Bazel writes its file in large pieces; its output comes line by line.
            self.follower.progress = read_lines(self.follower.progress, line)


def _stop(command: Command) -> None:
    """End the work that a program only watches, such as a container's; nothing where there is none."""
    if command.stop:
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            subprocess.run(
                command.stop,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_STOP_SECONDS,
                check=False,
            )


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ask the group to end, then make it."""
    for sign in (signal.SIGINT, signal.SIGTERM, getattr(signal, "SIGKILL", signal.SIGTERM)):
        with contextlib.suppress(ProcessLookupError):
            _signal_group(process.pid, sign)
        with contextlib.suppress(subprocess.TimeoutExpired, KeyboardInterrupt):
            process.wait(_GRACE_SECONDS)
            return


def _signal_group(pid: int, sign: signal.Signals) -> None:
    if hasattr(os, "killpg"):
        os.killpg(pid, sign)
    else:
        os.kill(pid, sign)


def stop_leftover(leader: Path) -> bool:
    """End the build that a killed tfenv left running in the same work folder; whether there was one.

    The process is only ended if it still runs the very command that was noted.
    """
    try:
        noted = json.loads(leader.read_text("utf-8"))
        pid, words = int(noted["pid"]), list(noted["words"])
    except (OSError, ValueError, KeyError, TypeError):
        return False
    leader.unlink(missing_ok=True)
    if not _runs(pid, words):
        return False
    for sign in (signal.SIGTERM, getattr(signal, "SIGKILL", signal.SIGTERM)):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            _signal_group(pid, sign)
        deadline = time.monotonic() + _GRACE_SECONDS
        while time.monotonic() < deadline:
            if not _runs(pid, words):
                return True
            time.sleep(0.1)
    return True


def _runs(pid: int, words: list[str]) -> bool:
    said = subprocess.run(
        ["ps", "-ww", "-o", "args=", "-p", str(pid)], capture_output=True, text=True, check=False
    )
    return " ".join(words) in said.stdout
