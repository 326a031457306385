"""What a person sees of a build: a bar on a terminal, lines elsewhere."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from tfenv.build.driver import Hooks
from tfenv.build.run import Update

_LINE_SECONDS = 30.0  # between lines about actions, where there is no bar


@contextlib.contextmanager
def shown() -> Iterator[Hooks]:
    """Hooks that fit standard error."""
    console = Console(stderr=True)
    if not console.is_terminal:
        lines = _Lines(console)
        yield Hooks(say=lines.say, show=lines.show)
        return
    columns = (
        TextColumn("[bold]{task.fields[step]}"),
        BarColumn(),
        TextColumn("{task.completed:.0f}/{task.total:.0f} actions"),
        TimeElapsedColumn(),
        TextColumn("{task.fields[action]}"),
    )
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("build", total=0, step="start", action="")

        def show(update: Update) -> None:
            progress.update(
                task,
                completed=update.bazel.done,
                total=update.bazel.total,
                step=update.step,
                action=escape(update.bazel.action[:60]),
            )

        def say(text: str) -> None:
            progress.console.print(escape(text), highlight=False)

        yield Hooks(say=say, show=show)


class _Lines:
    """One line per step, and one about Bazel's actions now and then."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._next = time.monotonic() + _LINE_SECONDS

    def say(self, text: str) -> None:
        self._console.print(text, markup=False, highlight=False, soft_wrap=True)

    def show(self, update: Update) -> None:
        if update.state:
            self.say(f"{update.step}: {update.state}")
        elif time.monotonic() >= self._next:
            self._next = time.monotonic() + _LINE_SECONDS
            bazel = update.bazel
            self.say(f"{update.step}: {bazel.done}/{bazel.total} actions, {bazel.action}")
