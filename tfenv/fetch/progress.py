"""What a person sees of a fetch: a bar on a terminal, one line per file elsewhere."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.markup import escape
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)

from tfenv import files
from tfenv.fetch.item import Item, Outcome
from tfenv.fetch.pool import label, story


class Bar:
    """Hooks that draw one bar for all files; files of unknown size let it grow."""

    def __init__(self, progress: Progress, task: TaskID, known: int) -> None:
        self._progress = progress
        self._task = task
        self._known = known
        self._surplus = 0
        self._lock = threading.Lock()

    def advance(self, item: Item, count: int) -> None:
        """Move the bar."""
        with self._lock:
            if not item.size:
                self._surplus += count
                self._progress.update(self._task, total=self._known + self._surplus)
            self._progress.update(self._task, advance=count)

    def note(self, text: str) -> None:
        """Print a line above the bar."""
        self._progress.console.print(f"[yellow]note:[/] {escape(text)}", highlight=False)

    def finished(self, outcome: Outcome) -> None:
        """Count a cached file as arrived, and say where another one came from."""
        if outcome.status == "cached":
            self.advance(outcome.item, outcome.item.size)
        if outcome.status == "failed":
            self.note(f"{label(outcome.item)}: {story(outcome)}")


class Lines:
    """Hooks for pipes and CI: one line per file that was downloaded or failed."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def advance(self, item: Item, count: int) -> None:
        """Say nothing: a log has no use for it."""

    def note(self, text: str) -> None:
        """Print the note."""
        self._console.print(f"note: {text}", markup=False, highlight=False, soft_wrap=True)

    def finished(self, outcome: Outcome) -> None:
        """Print what came of it."""
        if outcome.status == "downloaded":
            size = files.size_text(outcome.item.size) if outcome.item.size else ""
            self._say(f"downloaded {label(outcome.item)} {size}".rstrip())
        elif outcome.status == "failed":
            self._say(f"failed {label(outcome.item)}: {story(outcome)}")

    def _say(self, text: str) -> None:
        self._console.print(text, markup=False, highlight=False, soft_wrap=True)


@contextlib.contextmanager
def shown(items: Sequence[Item]) -> Iterator[Bar | Lines]:
    """Hooks that fit standard error, where all of this goes."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield Lines(console)
        return
    known = sum(item.size for item in items)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True) as progress:
        yield Bar(progress, progress.add_task(f"{len(items)} files", total=known), known)
