"""`tfenv audit A B`: identical, equivalent after named normalisers, or different: where and why."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tfenv.audit import libraries, normalise, portables, ranges, scan, texts
from tfenv.audit.declared import NOTHING, Change, Declaration
from tfenv.audit.model import Audit, Declared, Difference, Explained, Side, Tally
from tfenv.audit.normalise import Facts, Normaliser
from tfenv.audit.oci import OciTree
from tfenv.audit.sides import declared, describe, open_both
from tfenv.audit.store import Store
from tfenv.wheel import contents, elf
from tfenv.wheel.archive import ZipTree
from tfenv.wheel.blob import Blob
from tfenv.wheel.entry import Entry, refuse
from tfenv.wheel.library import format_of

_CHUNK = 1 << 20
_ARCHIVES = {("zip", "zip"), ("oci", "oci")}


def audit(
    a: Path,
    b: Path,
    names: Sequence[str] = normalise.NAMES,
    declaration: Declaration = NOTHING,
    draft: list[Change] | None = None,
) -> Audit:
    """Compare two things byte for byte.

    Args:
        a, b: wheels, folders or images.
        names: the normalisers that may be used.
        declaration: what is meant to differ.
        draft: takes the differing lines that could be declared.

    Raises:
        BadWheelError: one of them is missing, damaged or hostile.
    """
    hashes = _file_hashes(a, b)
    if hashes is not None and hashes[0] == hashes[1]:
        return _same_file(a, b, hashes[0])
    trees = open_both(a, b)
    scanned = [scan.Scanned(tree, Store()) for tree in trees]
    try:
        allowed = normalise.chosen(names)
        comparison = _Comparison(scanned[0], scanned[1], allowed, hashes, declaration)
        result = comparison.result()
        if draft is not None:
            draft += comparison.drafted()
        return result
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
        declaration: Declaration,
    ) -> None:
        self.a, self.b, self.allowed = a, b, allowed
        self.declaration = declaration
        self.hashes = hashes
        self.pairs: dict[str, str] = {}
        self.facts = (declared(a.tree), declared(b.tree))
        self.found: list[Difference] = []
        self.explained: list[Explained] = []
        self.meant: list[Declared] = []

    def result(self) -> Audit:
        self.pairs = pairs = self._pairs()
        scan.both(self.a, self.b, pairs)
        self._container(pairs)
        self._records()
        self._versions()
        for path in self._differing():
            self._member(path)
        self._not_there()
        if not self.found and not self.explained and not self._same_container():
            self._stored("zip-encoding", "headers that nothing reads, or compression")
        used = {item.normaliser for item in self.explained}
        verdict = "different" if self.found else "identical"
        if not self.found and (used or self.meant):
            verdict = "equivalent"
        digests = self.hashes or ("", "")
        return Audit(
            verdict=verdict,  # type: ignore[arg-type]
            normalisers=[name for name in normalise.NAMES if name in used],
            differences=self.found,
            explained=self.explained,
            a=describe(self.a.tree, self.facts[0], digests[0]),
            b=describe(self.b.tree, self.facts[1], digests[1]),
            declared=self.meant,
            tally=self._tally(),
        )

    def _differing(self) -> list[str]:
        """A's names of the members whose content is another one in B."""
        digests = self.a.digests, self.b.digests
        return [a for a, b in self.pairs.items() if digests[0][a] != digests[1][b]]

    def _blobs(self, path: str) -> tuple[Blob, Blob]:
        return self.a.kept[path], self.b.kept[self.pairs[path]]

    def _tally(self) -> Tally:
        differing = self._differing()
        native = [path for path in differing if format_of(self.a.kept[path].near(0, 16))]
        alike = [pair for pair in map(self._blobs, native) if pair[0].size == pair[1].size]
        return Tally(
            members=len(self.pairs),
            members_differing=len(differing),
            libraries_differing=len(native),
            library_bytes=sum(one.size for one, _ in alike),
            library_bytes_differing=sum(ranges.count(one, two) for one, two in alike),
        )

    def drafted(self) -> list[Change]:
        """The differing lines, as a declaration would have them."""
        paths = dict.fromkeys(item.path for item in self.found if item.path in self.a.kept)
        found = [Change(self._shown_path(path), self._diff(path)[0]) for path in paths]
        return sorted((change for change in found if change.diff), key=lambda change: change.path)

    def _diff(self, path: str) -> tuple[list[str], list[str]]:
        return texts.diff(path, *self._blobs(path), self.facts, self.allowed)

    def _shown_path(self, path: str) -> str:
        return normalise.shown_path(normalise.canonical_path(path, self.facts[0]))

    def _versions(self) -> None:
        """Two versions are two releases: the normaliser `version` works if that is declared."""
        one, two = self.facts[0].version, self.facts[1].version
        meant = self.declaration.version
        if meant and meant != (one, two):
            cause = "the declaration is about other files"
            detail = f"declared {meant[0]}, {meant[1]}; METADATA says {one}, {two}"
            self._differ("", "declaration", cause, detail)
        elif not meant and one != two and one and two:
            cause = f"these are two releases; if that is meant: --declare version={one}:{two}"
            self._differ("", "version", cause, f"A is {one}, B is {two}")

    def _not_there(self) -> None:
        """Declared changes that were not found are differences as well."""
        met = {self._shown_path(item.path) for item in self.meant}
        for change in self.declaration.change:
            if change.path not in met:
                cause = "B lacks the change, or something else differs there too"
                self._differ(change.path, "declaration", cause, "it does not differ as declared")

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
            self._explain("", "version", f"{detail}: {renamed[0][0]} | {renamed[0][1]}")
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

    def _member(self, path: str) -> None:
        one, two = self._blobs(path)
        native = True
        if one.near(0, 4) == two.near(0, 4) == elf.MAGIC:
            compare = libraries.compare
        elif portables.comparable(one, two):
            compare = portables.compare
        else:
            compare, native = texts.compare, False
        try:
            parts = list(compare(path, one, two, self.facts, self.allowed))
        except ValueError as error:
            self._differ(path, "bytes", "a damaged library", f"it cannot be read: {error}")
            return
        meant = self.declaration.diff_of(self._shown_path(path))
        if meant and not native and self._declared(path, meant):
            return
        if not parts:
            self._differ(path, "bytes", "unknown", "it differs in a place that nothing names")
        for part in parts:
            if isinstance(part, Difference):
                self.found.append(part)
            else:
                self.explained.append(part)

    def _declared(self, path: str, meant: list[str]) -> bool:
        """Whether a member's lines differ just as declared; if so, this is told."""
        lines, normalisers = self._diff(path)
        if lines != meant:
            return False
        self.meant.append(Declared(path=path, detail="\n".join(lines)))
        for name in normalisers:
            self._explain(path, name, "the lines that are not declared")
        return True

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
