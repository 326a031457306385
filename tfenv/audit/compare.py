"""`tfenv audit A B`: identical, equivalent after named normalisers, or different: where and why."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tfenv.audit import libraries, normalise, scan, texts
from tfenv.audit.model import Audit, Difference, Explained, Side
from tfenv.audit.normalise import Facts, Normaliser
from tfenv.audit.oci import OciTree
from tfenv.audit.sides import declared, describe, open_both
from tfenv.audit.store import Store
from tfenv.wheel import contents, elf
from tfenv.wheel.archive import ZipTree
from tfenv.wheel.blob import Blob
from tfenv.wheel.entry import Entry, refuse

_CHUNK = 1 << 20
_ARCHIVES = {("zip", "zip"), ("oci", "oci")}


def audit(a: Path, b: Path, names: Sequence[str] = normalise.NAMES) -> Audit:
    """Compare two things byte for byte. `names` are the normalisers that may be used.

    Raises:
        BadWheelError: one of them is missing, damaged or hostile.
    """
    hashes = _file_hashes(a, b)
    if hashes is not None and hashes[0] == hashes[1]:
        return _same_file(a, b, hashes[0])
    trees = open_both(a, b)
    scanned = [scan.Scanned(tree, Store()) for tree in trees]
    try:
        return _Comparison(scanned[0], scanned[1], normalise.chosen(names), hashes).result()
    finally:
        for side in scanned:
            side.close()
            side.tree.close()


def _file_hashes(a: Path, b: Path) -> tuple[str, str] | None:
    """Hashes of both files, where their sizes leave it open whether they are the same."""
    for path in (a, b):
        if not path.exists():
            raise refuse(path.name, "there is no such file or folder")
    if not (a.is_file() and b.is_file()) or a.stat().st_size != b.stat().st_size:
        return None
    with ThreadPoolExecutor(2) as pool:
        one, two = pool.map(_sha256, (a, b))
    return one, two


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    buffer = memoryview(bytearray(_CHUNK))
    with path.open("rb", buffering=0) as stream:
        while count := stream.readinto(buffer):
            digest.update(buffer[:count])
    return digest.hexdigest()


def _same_file(a: Path, b: Path, digest: str) -> Audit:
    sides = [
        Side(path=p.name, kind="file", sha256=digest, members=0, bytes=p.stat().st_size, version="")
        for p in (a, b)
    ]
    return Audit(
        verdict="identical", normalisers=[], differences=[], explained=[], a=sides[0], b=sides[1]
    )


class _Comparison:
    """One audit of two opened sides."""

    def __init__(
        self,
        a: scan.Scanned,
        b: scan.Scanned,
        allowed: Sequence[Normaliser],
        hashes: tuple[str, str] | None,
    ) -> None:
        self.a, self.b, self.allowed = a, b, allowed
        self.hashes = hashes
        self.pairs: dict[str, str] = {}
        self.facts = (declared(a.tree), declared(b.tree))
        self.found: list[Difference] = []
        self.explained: list[Explained] = []

    def result(self) -> Audit:
        self.pairs = pairs = self._pairs()
        scan.both(self.a, self.b, pairs)
        self._container(pairs)
        self._records()
        for path_a, path_b in pairs.items():
            if self.a.digests[path_a] != self.b.digests[path_b]:
                self._member(path_a, self.a.kept[path_a], self.b.kept[path_b])
        if not self.found and not self.explained and not self._same_container():
            self._stored("zip-encoding", "headers that nothing reads, or compression")
        used = {item.normaliser for item in self.explained}
        verdict = "different" if self.found else "equivalent" if used else "identical"
        digests = self.hashes or ("", "")
        return Audit(
            verdict=verdict,  # type: ignore[arg-type]
            normalisers=[name for name in normalise.NAMES if name in used],
            differences=self.found,
            explained=self.explained,
            a=describe(self.a.tree, self.facts[0], digests[0]),
            b=describe(self.b.tree, self.facts[1], digests[1]),
        )

    def _same_container(self) -> bool:
        """Whether equal members mean equal things: files of one hash never come this far."""
        a, b = self.a.tree, self.b.tree
        if isinstance(a, OciTree) and isinstance(b, OciTree):
            return a.digest == b.digest
        return a.kind == b.kind == "directory"

    def _pairs(self) -> dict[str, str]:
        """A's names to B's; members of one side only are differences."""
        version = any(item.name == "version" for item in self.allowed)
        maps: list[dict[str, str]] = []
        for side, facts in zip((self.a, self.b), self.facts, strict=True):
            canonical = facts if version else Facts()
            maps.append({normalise.canonical_path(p, canonical): p for p in side.tree.entries})
        for name in sorted(maps[0].keys() ^ maps[1].keys()):
            path = maps[0].get(name) or maps[1][name]
            detail = f"it is only in {'A' if name in maps[0] else 'B'}"
            self._differ(path, "member", "other sources, or another way to package", detail)
        pairs = {path: maps[1][name] for name, path in maps[0].items() if name in maps[1]}
        renamed = [(path_a, path_b) for path_a, path_b in pairs.items() if path_a != path_b]
        if renamed:
            detail = f"{len(renamed)} members have the version in their names"
            self._explain(renamed[0][0], "version", f"{detail}; in B this is {renamed[0][1]}")
        return pairs

    def _container(self, pairs: dict[str, str]) -> None:
        """Differences in how members are stored, not in what they hold."""
        left = [self.a.tree.entries[path] for path in pairs]
        right = [_renamed(self.b.tree.entries[path_b], path_a) for path_a, path_b in pairs.items()]
        rows = list(zip(_ranked(left), _ranked(right), strict=True))
        kinds = (self.a.tree.kind, self.b.tree.kind)
        for item in normalise.REGISTRY:
            # Folders keep no order and no encoding, and installers write their own times.
            if item.aspect is not None and (kinds in _ARCHIVES or item.name == "zip-mode"):
                self._aspect(item.name, item.aspect, rows)
        self._between()
        for one, two in rows:
            if one.link != two.link:
                self._differ(one.path, "link", "another target", f"{one.link} | {two.link}")
            elif bool(one.mode & 0o111) != bool(two.mode & 0o111):
                detail = f"mode {one.mode:o} in A, {two.mode:o} in B"
                self._differ(one.path, "mode", "a file became executable, or ceased to be", detail)
            if one.owner != two.owner:
                detail = f"{one.owner} | {two.owner}"
                self._differ(one.path, "owner", "another user, or other attributes", detail)

    def _aspect(self, name: str, aspect: normalise.Aspect, rows: list[tuple[Entry, Entry]]) -> None:
        """One line for all members in which one aspect of storing differs."""
        if name == "zip-encoding":
            rows = [(e, f) for e, f in rows if self._same_content(e.path)]
        apart = [(e, f) for e, f in rows if aspect(e) != aspect(f)]
        if apart:
            one, two = apart[0]
            values = f"{aspect(one)} | {aspect(two)}"
            self._stored(name, f"{len(apart)} members, the first {one.path}: {values}")

    def _same_content(self, path: str) -> bool:
        return self.a.digests[path] == self.b.digests[self.pairs[path]]

    def _between(self) -> None:
        """What lies in two archives between the members."""
        a, b = self.a.tree, self.b.tree
        if not isinstance(a, ZipTree) or not isinstance(b, ZipTree):
            return
        hidden_a, hidden_b = a.hidden(), b.hidden()
        told = any(item.normaliser == "zip-encoding" for item in self.explained)
        if not told and (hidden_a[1] != hidden_b[1] or a.folders != b.folders):
            self._stored("zip-encoding", "extra fields, entries for folders, or the comment")
        for name, (loose, _) in (("A", hidden_a), ("B", hidden_b)):
            if loose:
                cause = "something was hidden in the archive, or a tool left a hole"
                self._differ("", "hidden-bytes", cause, f"{loose} bytes in {name} are in no member")

    def _stored(self, name: str, detail: str) -> None:
        if any(item.name == name for item in self.allowed):
            self._explain("", name, detail)
        else:
            self._differ("", name, "the archive was written in another way", detail)

    def _records(self) -> None:
        """Each wheel's RECORD must fit its own members, or `record` could hide a change."""
        for name, side in (("A", self.a), ("B", self.b)):
            folder = contents.dist_info(side.tree) if side.tree.kind == "zip" else None
            if folder is None:
                continue
            try:
                lines = contents.record(side.tree, folder)
                faults = contents.record_faults(side.tree.entries, lines, side.digests)
            except ValueError as error:
                faults = [str(error)]
            for fault in faults[:20]:
                cause = "members were changed after RECORD was written"
                self._differ(f"{folder}RECORD", "record", cause, f"in {name}: {fault}")

    def _member(self, path: str, one: Blob, two: Blob) -> None:
        both_elf = one.near(0, 4) == two.near(0, 4) == elf.MAGIC
        try:
            parts = list(
                libraries.compare(path, one, two, self.facts, self.allowed)
                if both_elf
                else texts.compare(path, one, two, self.facts, self.allowed)
            )
        except ValueError as error:
            self._differ(path, "bytes", "a damaged library", f"it cannot be read: {error}")
            return
        if not parts:
            self._differ(path, "bytes", "unknown", "it differs in a place that nothing names")
        for part in parts:
            if isinstance(part, Difference):
                self.found.append(part)
            else:
                self.explained.append(part)

    def _differ(self, path: str, kind: str, cause: str, detail: str) -> None:
        self.found.append(Difference(path=path, kind=kind, cause=cause, detail=detail))

    def _explain(self, path: str, normaliser: str, detail: str) -> None:
        self.explained.append(Explained(path=path, normaliser=normaliser, detail=detail))


def _renamed(entry: Entry, path: str) -> Entry:
    return entry if entry.path == path else dataclasses.replace(entry, path=path)


def _ranked(entries: list[Entry]) -> list[Entry]:
    """Entries with their rank among these as index, so that members of one side only, which are
    told apart from this, do not shift the others."""
    order = sorted(range(len(entries)), key=lambda i: entries[i].index)
    ranks = dict(zip(order, range(len(entries)), strict=True))
    if all(entry.index == ranks[i] for i, entry in enumerate(entries)):
        return entries
    return [dataclasses.replace(entry, index=ranks[i]) for i, entry in enumerate(entries)]
