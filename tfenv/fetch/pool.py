"""Many files at once, and one error that names all that are missing."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from pathlib import Path

from tfenv import files
from tfenv.errors import DownloadError, HashMismatchError
from tfenv.fetch.cache import Cache, stopped
from tfenv.fetch.download import Hooks, Silent, ensure, place
from tfenv.fetch.item import Item, Outcome, distinct
from tfenv.fetch.transport import Limits, Transport

WORKERS = 8


def fetch(
    items: Iterable[Item],
    cache: Cache,
    *,
    hooks: Hooks | None = None,
    limits: Limits | None = None,
    workers: int = WORKERS,
) -> list[Outcome]:
    """Have all items in the cache; every item is tried, whatever happens to the others.

    Returns:
        One outcome per distinct sha256, in the order of `items`; failures included, see
        `require_all`.

    Raises:
        DownloadError: the cache cannot be written, or its disk is too small.
        StoppedError: interrupted; what has arrived is kept.
    """
    wanted = distinct(items)
    told = hooks or Silent()
    transport = Transport(limits, threading.Event())
    _require_room(wanted, cache)
    outcomes: dict[str, Outcome] = {}
    with ThreadPoolExecutor(max_workers=workers, thread_name_prefix="fetch") as pool:
        jobs = [pool.submit(ensure, item, cache, transport, told) for item in wanted]
        try:
            for job in as_completed(jobs):
                outcome = job.result()
                outcomes[outcome.item.sha256] = outcome
                told.finished(outcome)
        except KeyboardInterrupt:
            _stop(transport, jobs)
            raise stopped() from None
        except BaseException:
            _stop(transport, jobs)
            raise
    return [outcomes[item.sha256] for item in wanted]


def _stop(transport: Transport, jobs: Sequence[Future[Outcome]]) -> None:
    for job in jobs:
        job.cancel()
    transport.abort()


def _require_room(items: Sequence[Item], cache: Cache) -> None:
    missing = sum(
        max(item.size - _size(cache.partial(item.sha256)), 0)
        for item in items
        if not cache.path(item.sha256).exists()
    )
    cache.root.mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(cache.root).free
    if missing > free:
        raise DownloadError(
            f"{files.size_text(missing)} are to be downloaded to {cache.root}",
            f"only {files.size_text(free)} are free there",
            "free some space, or set TFENV_CACHE to a folder on a larger disk",
        )


def require_all(outcomes: Sequence[Outcome]) -> None:
    """Raise one error for everything that failed.

    Raises:
        HashMismatchError: a place sent another file than the locked one, and no place the right.
        DownloadError: no place gave the file.
    """
    failed = [outcome for outcome in outcomes if outcome.status == "failed"]
    if not failed:
        return
    wrong = [o for o in failed if any(attempt.wrong_hash for attempt in o.attempts)]
    names = ", ".join(label(outcome.item) for outcome in failed)
    first = (wrong or failed)[0]
    kind = HashMismatchError if wrong else DownloadError
    raise kind(
        f"{len(failed)} of {len(outcomes)} files could not be had: {names}",
        f"{label(first.item)}: {story(first)}",
        "run it again (what arrived is kept), try another --mirror, or fetch on another machine "
        "with `tfenv fetch -o DIR` and use it here with --offline --from DIR",
    )


def label(item: Item) -> str:
    """How an item is named to a person."""
    return f"{item.name} {item.version}" if item.version else item.name


def story(outcome: Outcome) -> str:
    """What each place answered, its last answer only."""
    last = {attempt.url: attempt.problem for attempt in outcome.attempts}
    return (
        "; ".join(f"{place(url)}: {problem}" for url, problem in last.items()) or "no place known"
    )


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0
