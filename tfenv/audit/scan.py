"""Read every byte of both sides once, in two threads: hashes of all members, copies of some.

Inflating and hashing release Python's lock, so that two threads use two cores.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from tfenv.audit.store import Store, View
from tfenv.wheel.entry import Entry, Tree


@dataclass(slots=True)
class Scanned:
    """What was read of one side."""

    tree: Tree
    store: Store
    digests: dict[str, str] = field(default_factory=dict)
    kept: dict[str, View] = field(default_factory=dict)

    def close(self) -> None:
        self.store.close()


def read(scanned: Scanned, wanted: Callable[[Entry], bool], keep: Callable[[str], bool]) -> None:
    """Hash the wanted members of one side and keep copies of those that `keep` asks for."""
    for entry, chunks in scanned.tree.stream(wanted):
        digest = hashlib.sha256()
        if keep(entry.path):
            scanned.kept[entry.path] = scanned.store.add(chunks, digest.update)
        else:
            for chunk in chunks:
                digest.update(chunk)
        scanned.digests[entry.path] = digest.hexdigest()


def both(a: Scanned, b: Scanned, pairs: Mapping[str, str]) -> None:
    """Hash all of both sides; `pairs` maps A's names to B's.

    Pairs whose declared sizes or CRCs differ are kept on the way; those that turn out to differ
    all the same are read again.
    """
    differ = {(pa, pb) for pa, pb in pairs.items() if _declared_apart(a, b, pa, pb)}
    _in_two_threads(
        lambda: read(a, lambda _: True, {pa for pa, _ in differ}.__contains__),
        lambda: read(b, lambda _: True, {pb for _, pb in differ}.__contains__),
    )
    late = {
        (pa, pb)
        for pa, pb in pairs.items()
        if a.digests[pa] != b.digests[pb] and (pa, pb) not in differ
    }
    late_a, late_b = {pa for pa, _ in late}, {pb for _, pb in late}
    if late:
        _in_two_threads(
            lambda: read(a, lambda e: e.path in late_a, late_a.__contains__),
            lambda: read(b, lambda e: e.path in late_b, late_b.__contains__),
        )


def _declared_apart(a: Scanned, b: Scanned, path_a: str, path_b: str) -> bool:
    one, two = a.tree.entries[path_a], b.tree.entries[path_b]
    return one.size != two.size or (one.crc is not None and one.crc != two.crc)


def _in_two_threads(one: Callable[[], None], two: Callable[[], None]) -> None:
    with ThreadPoolExecutor(2) as pool:
        for future in [pool.submit(one), pool.submit(two)]:
            future.result()
