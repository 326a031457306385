"""One file: from the cache, or from the first place that has it whole and right."""

from __future__ import annotations

import threading
import urllib.parse
from pathlib import Path
from typing import Protocol

from tfenv import files
from tfenv.fetch.cache import Cache, stopped
from tfenv.fetch.item import Attempt, Item, Outcome
from tfenv.fetch.transport import Refused, Transport, cannot_write

_RESUMES = 8  # that one place may break off and be asked to continue, in one round


class Hooks(Protocol):
    """Told what happens, from several threads."""

    def advance(self, item: Item, count: int) -> None:
        """`count` more bytes are there; negative: that many were thrown away."""

    def note(self, text: str) -> None:
        """Something that a person should know although the work goes on."""

    def finished(self, outcome: Outcome) -> None:
        """One item is done."""


class Silent:
    """Hooks that tell nobody."""

    def advance(self, item: Item, count: int) -> None:
        """Do nothing."""

    def note(self, text: str) -> None:
        """Do nothing."""

    def finished(self, outcome: Outcome) -> None:
        """Do nothing."""


def ensure(item: Item, cache: Cache, transport: Transport, hooks: Hooks) -> Outcome:
    """Have `item` in the cache.

    Returns:
        The outcome; where no place gave the file its status is `failed`.

    Raises:
        DownloadError: the cache cannot be written.
        StoppedError: the transport was told to stop.
    """
    with cache.lock(item.sha256, transport.stop):
        if path := cache.find(item.sha256):
            cache.mark_canonical_id(item.sha256, item.canonical_id)
            return Outcome(item=item, status="cached", path=path)
        return _Search(item, cache, transport, hooks).run()


class _Search:
    """The way through the places of one file."""

    def __init__(self, item: Item, cache: Cache, transport: Transport, hooks: Hooks) -> None:
        self.item = item
        self.cache = cache
        self.transport = transport
        self.hooks = hooks
        self.part = cache.partial(item.sha256)
        self.attempts: list[Attempt] = []
        self.places = list(dict.fromkeys(item.urls))
        self.wait = 0.0  # that a server asked for in this round

    def run(self) -> Outcome:
        limits = self.transport.limits
        pause = limits.pause
        if self._is_there_already():
            return self._success("")
        for number in range(limits.rounds):
            if number and self.places:
                _sleep(max(pause, self.wait), self.transport.stop)
                pause = min(pause * 2, limits.longest_pause)
            self.wait = 0.0
            for url in list(self.places):
                if self._try(url):
                    return self._success(url)
        return Outcome(item=self.item, status="failed", attempts=self.attempts)

    def _is_there_already(self) -> bool:
        """Whether an earlier run was killed between the last byte and the rename."""
        if not self.part.is_file():
            return False
        self.hooks.advance(self.item, _size(self.part))
        return files.sha256_file(self.part) == self.item.sha256

    def _try(self, url: str) -> bool:
        """Whether `url` gave the file. A place that never will is taken off the list."""
        for _ in range(_RESUMES):
            before = _size(self.part)
            try:
                digest, whole = self.transport.complete(
                    url, self.part, self.item.size, self._advance
                )
            except Refused as refusal:
                if refusal.restart:
                    self._discard()
                    continue
                self._refused(url, refusal)
                if refusal.transient and _size(self.part) > before:
                    continue
                return False
            if digest == self.item.sha256:
                return True
            self._discard()
            if whole:
                self._wrong(url, digest)
                return False
            self.hooks.note(
                f"{self.item.name}: what had arrived earlier was damaged, starting over"
            )
        return False

    def _refused(self, url: str, refusal: Refused) -> None:
        self.attempts.append(Attempt(url, refusal.problem))
        self.wait = max(self.wait, refusal.wait)
        if not refusal.transient:
            self.places.remove(url)

    def _wrong(self, url: str, digest: str) -> None:
        problem = f"sent a file with sha256 {digest} instead of {self.item.sha256}"
        self.attempts.append(Attempt(url, problem, wrong_hash=True))
        self.places.remove(url)
        self.hooks.note(f"{self.item.name}: {place(url)} {problem}; it is not asked again")

    def _success(self, url: str) -> Outcome:
        try:
            path = self.cache.adopt(self.part, self.item.sha256)
            self.cache.mark_canonical_id(self.item.sha256, self.item.canonical_id)
        except OSError as error:
            raise cannot_write(self.part, error) from error
        return Outcome(
            item=self.item, status="downloaded", path=path, url=url, attempts=self.attempts
        )

    def _discard(self) -> None:
        self.hooks.advance(self.item, -_size(self.part))
        self.part.unlink(missing_ok=True)

    def _advance(self, count: int) -> None:
        self.hooks.advance(self.item, count)


def place(url: str) -> str:
    """The host of a URL: enough for a person, and without credentials."""
    return urllib.parse.urlsplit(url).hostname or url[:80]


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def _sleep(seconds: float, stop: threading.Event) -> None:
    if stop.wait(seconds):
        raise stopped()
