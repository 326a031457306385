"""Whether the facts hold together: every row on its own, and the tables with each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TypeVar, cast

import msgspec
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

from tfenv import facts
from tfenv.errors import FileFormatError
from tfenv.facts import rules, schema
from tfenv.facts.versions import minor, tree

# How the `note` of a row begins whose missing values nobody has read yet.
UNKNOWN = "not known: "
Tables = Mapping[type[schema.Row], tuple[schema.Row, ...]]
_Row = TypeVar("_Row", bound=schema.Row)

_NAMES = {kind: name for name, kind in schema.TABLES.items()}

# The fields that name a row. No two rows of a table may have the same values in all of them.
KEYS: dict[type[schema.Row], tuple[str, ...]] = {
    schema.Wheel: ("distribution", "version", "platform"),
    schema.Source: ("version",),
    schema.Tested: ("version", "platform", "variant"),
    schema.BazelBound: ("version",),
    schema.BazelFile: ("version", "platform", "kind"),
    schema.BazeliskFile: ("version", "platform"),
    schema.CudaToolkit: ("version", "platform"),
    schema.CudnnArchive: ("version", "cuda", "platform"),
    schema.CudaArch: ("cuda",),
    schema.Msvc: ("name",),
    schema.Gpu: ("name",),
    schema.Redist: ("product", "version", "host"),
    schema.NvidiaArchive: ("product", "version", "file"),
    schema.Image: ("image", "tag", "digest"),
    schema.NixpkgsPin: ("rev",),
    schema.NixAttribute: ("release", "component", "attribute"),
    schema.CondaPackage: ("channel", "subdir", "name", "version", "build", "url"),
    schema.CPython: ("url",),
    schema.Pin: ("versions", "package", "pythons"),
    schema.Requires: ("version",),
    schema.SdistNeed: ("package",),
    schema.BuildInfo: ("distribution", "version", "platform"),
    schema.BuildConflict: ("versions", "subject", "range"),
    schema.Mirror: ("kind", "name", "url"),
    schema.ProductFact: ("product", "versions"),
    schema.BaseOs: ("name",),
    schema.CudaPair: ("versions", "cuda", "cudnn"),
    schema.Preference: ("versions", "key"),
    schema.Feature: ("name", "versions"),
    schema.Defect: ("id",),
    schema.SourceEdit: ("versions", "platform", "cuda_range", "file", "find"),
    schema.CmakeExternal: ("versions", "name"),
    schema.Proof: ("target", "level", "python"),
    schema.Upkeep: ("table",),
}
_BAZEL_PLATFORM: dict[str, str] = {
    "linux-x86_64": "linux-x86_64",
    "linux-aarch64": "linux-arm64",
    "macos-x86_64": "darwin-x86_64",
    "macos-arm64": "darwin-arm64",
    "windows-x86_64": "windows-x86_64",
}


class Problem(msgspec.Struct, frozen=True):
    """One thing that is wrong with one row, or with a whole table (`row` 0)."""

    table: str
    row: int  # its place in the table, from 1
    key: str  # what the row is about
    what: str

    def __str__(self) -> str:
        place = f" row {self.row} ({self.key})" if self.row else ""
        return f"{self.table}.toml{place}: {self.what}"


def check(tables: Tables | None = None) -> list[Problem]:
    """Everything that is wrong with the facts; an empty list is a clean bill.

    `tables` replaces the shipped ones, all of them or some.
    """
    found: list[Problem] = []
    read: dict[type[schema.Row], tuple[schema.Row, ...]] = {}
    for name, kind in schema.TABLES.items():
        if tables is not None and kind in tables:
            read[kind] = tables[kind]
            continue
        try:
            read[kind] = facts.rows(kind)
        except (FileFormatError, FileNotFoundError) as error:
            read[kind] = ()
            found.append(Problem(name, 0, "", getattr(error, "why", str(error))))
    checks = _Checks(read)
    return found + list(checks.all())


class _Checks:
    """The checks, over one set of tables."""

    def __init__(self, tables: Tables) -> None:
        self.tables = tables
        self.releases = sorted(
            {Version(r.version) for r in self.rows(schema.Source) if rules.is_version(r.version)}
        )

    def rows(self, kind: type[_Row]) -> tuple[_Row, ...]:
        return cast("tuple[_Row, ...]", self.tables[kind])

    def all(self) -> Iterator[Problem]:
        for kind, rows in self.tables.items():
            yield from self.alone(kind, rows)
            yield from self.twice(kind, rows)
            yield from self.ranges(kind, rows)
        for part in (
            self.wheels,
            self.bounds,
            self.tested,
            self.build_info,
            self.images,
            self.nixpkgs,
            self.gpus,
            self.cuda,
            self.mirrors,
            self.studios,
            self.requires,
            self.upkeep,
        ):
            yield from part()

    def alone(self, kind: type[schema.Row], rows: tuple[schema.Row, ...]) -> Iterator[Problem]:
        """Each row by itself."""
        for row in rows:
            yield from (self.problem(kind, row, what) for what in rules.problems(row))

    def twice(self, kind: type[schema.Row], rows: tuple[schema.Row, ...]) -> Iterator[Problem]:
        """No two rows about the same thing."""
        count = Counter(_key(row) for row in rows)
        for row in {_key(r): r for r in rows if count[_key(r)] > 1}.values():
            yield self.problem(kind, row, f"{count[_key(row)]} rows with this key")

    def ranges(self, kind: type[schema.Row], rows: tuple[schema.Row, ...]) -> Iterator[Problem]:
        """Ranges of releases are about at least one release."""
        if "versions" not in kind.__struct_fields__:
            return
        for row in rows:
            text = getattr(row, "versions", "")
            try:
                hit = any(SpecifierSet(text).contains(v) for v in self.releases)
            except InvalidSpecifier:
                continue  # already named by the row's own check
            if not hit:
                yield self.problem(kind, row, f"no release is in {text!r}")

    def wheels(self) -> Iterator[Problem]:
        """Every release with a wheel has a source archive."""
        sources = {r.version for r in self.rows(schema.Source)}
        real = {_key(r) for r in self.rows(schema.Wheel) if not r.stub}
        for row in self.rows(schema.Wheel):
            if tree(row.version) not in sources:
                yield self.problem(schema.Wheel, row, "no row in sources.toml for this release")
            if not row.pythons:
                yield self.problem(schema.Wheel, row, "no Python")
            if row.stub and not row.real and not row.note:
                yield self.problem(schema.Wheel, row, "a stub has to name the real distribution")
            if row.real and (row.real, row.version, row.platform) not in real:
                yield self.problem(schema.Wheel, row, f"no wheel of {row.real} for it")
            if row.stub != (0 < row.size < 100_000):
                yield self.problem(schema.Wheel, row, f"stub = {row.stub} with {row.size} bytes")

    def bounds(self) -> Iterator[Problem]:
        """Every release has Bazel bounds, and they are an interval."""
        sources = {r.version for r in self.rows(schema.Source)}
        bounds = {r.version for r in self.rows(schema.BazelBound)}
        for source in self.rows(schema.Source):
            if source.version not in bounds:
                yield self.problem(schema.Source, source, "no row in bazel-bounds.toml")
        for row in self.rows(schema.BazelBound):
            if row.version not in sources:
                yield self.problem(schema.BazelBound, row, "no row in sources.toml")
            if not (row.min or row.max or row.file or row.note.startswith(UNKNOWN)):
                yield self.problem(schema.BazelBound, row, "neither a bound nor .bazelversion")
            if _parsed(row.min) and _parsed(row.max) and Version(row.min) > Version(row.max):
                yield self.problem(schema.BazelBound, row, "min is above max")

    def tested(self) -> Iterator[Problem]:
        """Tested configurations can be fetched, and stay inside the release's own bounds."""
        files = {(f.version, f.platform) for f in self.rows(schema.BazelFile)}
        bounds = {b.version: b for b in self.rows(schema.BazelBound)}
        minors = {minor(str(v)) for v in self.releases}
        for row in self.rows(schema.Tested):
            bazel = row.build_tool_version
            if minor(row.version) not in minors:
                yield self.problem(schema.Tested, row, "no release of this minor in sources.toml")
            if row.build_tool == "bazel":
                if not {(bazel, _BAZEL_PLATFORM[row.platform]), (bazel, "any")} & files:
                    yield self.problem(schema.Tested, row, f"no file of Bazel {bazel}")
                bound = bounds.get(row.version)
                if bound and not _accepts(bound, bazel):
                    yield self.problem(schema.Tested, row, f"Bazel {bazel} is out of bounds")
            if (row.variant == "cuda") != bool(row.cuda and row.cudnn):
                yield self.problem(schema.Tested, row, "cuda and cudnn go with variant cuda")
            if row.cuda:
                yield from self.known_cuda(schema.Tested, row, row.cuda, row.platform)

    def known_cuda(
        self, kind: type[schema.Row], row: schema.Row, cuda: str, platform: str
    ) -> Iterator[Problem]:
        """A CUDA minor has an installer for the platform and a row of architectures."""
        if not any(a.cuda == cuda for a in self.rows(schema.CudaArch)):
            yield self.problem(kind, row, f"CUDA {cuda} is not in cuda-arch.toml")
        toolkits = self.rows(schema.CudaToolkit)
        if not any(minor(t.version) == cuda and t.platform == platform for t in toolkits):
            yield self.problem(kind, row, f"no CUDA {cuda} for {platform} in cuda.toml")

    def build_info(self) -> Iterator[Problem]:
        """What a wheel says of itself is about a released wheel and agrees with its variant."""
        wheels = {_key(w): w for w in self.rows(schema.Wheel)}
        for row in self.rows(schema.BuildInfo):
            wheel = wheels.get((row.distribution, row.version, row.platform))
            if wheel is None:
                yield self.problem(schema.BuildInfo, row, "no row in wheels.toml for this wheel")
            elif not wheel.stub and (wheel.variant == "cuda") != row.cuda_build:
                yield self.problem(
                    schema.BuildInfo, row, f"wheels.toml calls this wheel {wheel.variant}"
                )

    def images(self) -> Iterator[Problem]:
        """At most one preferred digest per tag, and one that can be had."""
        preferred: Counter[tuple[str, str]] = Counter()
        for row in self.rows(schema.Image):
            if not row.preferred:
                continue
            preferred[row.image, row.tag] += 1
            if not row.digest or row.gone:
                yield self.problem(schema.Image, row, "preferred, and without digest or gone")
            if preferred[row.image, row.tag] > 1:
                yield self.problem(schema.Image, row, "a second preferred digest for this tag")

    def nixpkgs(self) -> Iterator[Problem]:
        """At most one preferred revision per release, complete enough for a flake.lock."""
        preferred: Counter[str] = Counter()
        for row in self.rows(schema.NixpkgsPin):
            if not row.preferred:
                continue
            preferred[row.release] += 1
            if not (row.rev and row.nar_hash and row.last_modified):
                yield self.problem(schema.NixpkgsPin, row, "preferred, and not complete")
            if preferred[row.release] > 1:
                yield self.problem(schema.NixpkgsPin, row, "a second preferred revision")

    def gpus(self) -> Iterator[Problem]:
        """A card's capability is one that some CUDA compiles for; no alias means two cards."""
        known = {sm for arch in self.rows(schema.CudaArch) for sm in arch.sm}
        owner: dict[str, str] = {}
        for row in self.rows(schema.Gpu):
            if row.capability not in known:
                yield self.problem(schema.Gpu, row, f"no CUDA compiles for {row.capability}")
            for alias in row.aliases:
                if owner.setdefault(alias, row.name) != row.name:
                    yield self.problem(schema.Gpu, row, f"{alias} already means {owner[alias]}")

    def cuda(self) -> Iterator[Problem]:
        """Toolkits, cuDNN archives and pairs refer to a CUDA that cuda-arch.toml knows."""
        arch = {a.cuda for a in self.rows(schema.CudaArch)}
        for row in self.rows(schema.CudaArch):
            if not row.sm and not row.note.startswith(UNKNOWN):
                yield self.problem(schema.CudaArch, row, "no compute capabilities, and no why")
        for toolkit in self.rows(schema.CudaToolkit):
            if minor(toolkit.version) not in arch:
                yield self.problem(schema.CudaToolkit, toolkit, "not in cuda-arch.toml")
        majors = {a.partition(".")[0] for a in arch}
        for archive in self.rows(schema.CudnnArchive):
            if archive.cuda not in arch | majors:
                yield self.problem(
                    schema.CudnnArchive, archive, f"CUDA {archive.cuda} is not in cuda-arch.toml"
                )
        versions = {a.version for a in self.rows(schema.CudnnArchive)}
        for pair in self.rows(schema.CudaPair):
            yield from self.known_cuda(schema.CudaPair, pair, pair.cuda, "linux-x86_64")
            if not any(f"{v}.".startswith(f"{pair.cudnn}.") for v in versions):
                yield self.problem(schema.CudaPair, pair, f"no cuDNN {pair.cudnn} in cudnn.toml")

    def mirrors(self) -> Iterator[Problem]:
        """A mirror that serves has an address, and its aliases are its own."""
        owner = {row.name: row.name for row in self.rows(schema.Mirror)}
        for row in self.rows(schema.Mirror):
            if row.status == "serving" and not row.url:
                yield self.problem(schema.Mirror, row, "serves, and has no url")
            for alias in row.aliases:
                if owner.setdefault(alias, row.name) != row.name:
                    yield self.problem(schema.Mirror, row, f"{alias} already means {owner[alias]}")

    def studios(self) -> Iterator[Problem]:
        """The numbers of a Visual Studio are an interval."""
        for row in self.rows(schema.Msvc):
            if not 0 < row.oldest <= row.newest:
                yield self.problem(schema.Msvc, row, f"{row.oldest} to {row.newest} is no range")

    def requires(self) -> Iterator[Problem]:
        """What metadata asks for can be parsed, and is about a release with a wheel."""
        wheels = {r.version for r in self.rows(schema.Wheel)}
        for row in self.rows(schema.Requires):
            if row.version not in wheels:
                yield self.problem(schema.Requires, row, "no wheel of this release")
            if not row.requires and not row.note:
                yield self.problem(schema.Requires, row, "asks for nothing, and no note says why")

    def upkeep(self) -> Iterator[Problem]:
        """Every table has a keeper, and no keeper a table that is not there."""
        kept = {row.table for row in self.rows(schema.Upkeep)}
        for row in self.rows(schema.Upkeep):
            if row.table not in schema.TABLES:
                yield self.problem(schema.Upkeep, row, "no such table")
            if not (row.why and row.look_at):
                yield self.problem(schema.Upkeep, row, "neither why nor look_at may be empty")
        for name in schema.TABLES.keys() - kept:
            yield Problem("upkeep", 0, name, f"no row says how {name}.toml is kept up")

    def problem(self, kind: type[schema.Row], row: schema.Row, what: str) -> Problem:
        place = next((i for i, r in enumerate(self.tables[kind], 1) if r is row), 0)
        return Problem(_NAMES[kind], place, " ".join(p for p in _key(row) if p), what)


def _key(row: schema.Row) -> tuple[str, ...]:
    names = KEYS.get(type(row)) or type(row).__struct_fields__
    return tuple(str(getattr(row, name)) for name in names)


def _parsed(version: str) -> Version | None:
    try:
        return Version(version)
    except InvalidVersion:
        return None


def _accepts(bound: schema.BazelBound, bazel: str) -> bool:
    """Whether a release's bounds let this Bazel in; without bounds .bazelversion decides."""
    version, low, high = _parsed(bazel), _parsed(bound.min), _parsed(bound.max)
    if version is None:
        return True  # malformed: named by the row's own check
    if low is None and high is None:
        return not bound.file or version == _parsed(bound.file)
    return (low is None or low <= version) and (high is None or version <= high)
