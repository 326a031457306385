"""`tfenv inspect`: everything that one file says about itself, and what follows from it."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Literal

import msgspec
from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename

from tfenv.errors import BadWheelError
from tfenv.wheel import blob, contents, library, runs_on, tags
from tfenv.wheel.archive import ZipTree
from tfenv.wheel.cpu import CpuProof
from tfenv.wheel.entry import Entry, Tree, read_small, refuse
from tfenv.wheel.library import Library
from tfenv.wheel.trees import open_tree

SCHEMA = "tfenv.inspect/1"
ISA_ORDER = (
    "SSE2", "SSE3", "SSSE3", "SSE4.1", "SSE4.2", "AVX", "AVX2", "AVX512F",
)  # fmt: skip
_LEVELS = {"x86-64": "SSE2", "x86-64-v2": "SSE4.2", "x86-64-v3": "AVX2", "x86-64-v4": "AVX512F"}
_STRAYS = (".o", ".orig", ".rej", ".swp", ".pdb", ".log", ".DS_Store", "/core")
_STRAY_FOLDERS = (".git", ".svn", "__pycache__", ".idea")

_SYSTEM_PATHS = ("/usr/lib/", "/system/", "api-ms-win-", "python3")
_WINDOWS = frozenset({
    "advapi32", "bcrypt", "crypt32", "dbghelp", "iphlpapi", "kernel32", "normaliz", "ntdll",
    "ole32", "secur32", "setupapi", "shell32", "shlwapi", "user32", "wldap32", "ws2_32", "wsock32",
})  # fmt: skip

Severity = Literal["error", "warning", "info"]


class Finding(msgspec.Struct, frozen=True):
    """Something about a wheel that a person should know."""

    code: str
    severity: Severity
    path: str
    detail: str


class Tags(msgspec.Struct, frozen=True):
    """Platform tags: as claimed by name and WHEEL, and what the libraries would allow."""

    claimed: list[str]
    real: str
    honoured: bool


class Cuda(msgspec.Struct, frozen=True):
    """GPU code and the CUDA parts it was built with. Sizes are bytes by architecture."""

    version: str
    cudnn: str
    sass: list[str]
    ptx: list[str]
    containers: int
    bytes: dict[str, int]


class Inspection(msgspec.Struct, kw_only=True):
    """What one wheel or environment is. Field names are the contract of `inspect --json`."""

    schema: str = SCHEMA
    file: str
    sha256: str
    size: int
    name: str
    version: str
    generator: str
    requires_python: str
    requires: list[str]
    tags: Tags
    glibc: str
    glibcxx: str
    cxxabi: str
    cxx11_abi: bool | None
    needed: list[str]
    bring: list[str]
    rpath: list[str]
    compilers: list[str]
    git_version: str
    isa_floor: str
    isa_evidence: str
    cuda: Cuda | None
    build_info: dict[str, object]
    sizes: dict[str, int]
    members: int
    record_ok: bool
    record_faults: list[str]
    runs_on: runs_on.RunsOn
    findings: list[Finding]
    libraries: list[Library]
    cpu_proof: CpuProof | None = None  # only where it was asked for

    @property
    def ok(self) -> bool:
        """Whether nothing that was checked is wrong."""
        return all(finding.severity != "error" for finding in self.findings)


def inspect(path: Path) -> Inspection:
    """Read a wheel, or the TensorFlow of an installed environment.

    Every byte is read once: each member is hashed against RECORD, and native libraries are
    looked into on the way.

    Raises:
        BadWheelError: it is no wheel, is damaged or hostile.
    """
    tree = open_tree(path)
    try:
        return _Reading(tree).result()
    finally:
        tree.close()


class _Reading:
    """One pass over a tree."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.findings: list[Finding] = []
        self.libraries: list[Library] = []
        self.digests: dict[str, str] = {}
        about = contents.metadata(tree)
        if about is None:
            raise refuse(tree.path.name, "it holds no .dist-info/METADATA: it is no wheel")
        self.about = about
        self.lines: dict[str, contents.RecordLine] = {}
        self.record_faults: list[str] = []
        try:
            self.lines = contents.record(tree, about.folder)
        except ValueError as error:
            self.record_faults.append(str(error))

    def result(self) -> Inspection:
        chosen = self._members()
        for entry, chunks in self.tree.stream(lambda entry: entry.path in chosen):
            self._member(entry, chunks)
        if self.lines:
            entries = {path: self.tree.entries[path] for path in chosen}
            self.record_faults += contents.record_faults(entries, self.lines, self.digests)
        return self._assemble(chosen)

    def _members(self) -> dict[str, Entry]:
        """A wheel's every member; of an environment, what the distribution installed."""
        if self.tree.kind == "zip" or not self.lines:
            return dict(self.tree.entries)
        return {path: e for path, e in self.tree.entries.items() if path in self.lines}

    def _member(self, entry: Entry, chunks: Iterator[bytes]) -> None:
        digest = hashlib.sha256()
        first = next(chunks, b"")
        rest = chain((first,), chunks)
        if library.format_of(first[:16]):
            with blob.spool(rest, digest.update) as native:
                self._native(entry, native)
        else:
            for chunk in rest:
                digest.update(chunk)
        self.digests[entry.path] = digest.hexdigest()

    def _native(self, entry: Entry, native: blob.Blob) -> None:
        try:
            self.libraries += library.read(entry.path, native)
        except ValueError as error:
            self._find("damaged-library", "error", entry.path, str(error))

    def _find(self, code: str, severity: Severity, path: str, detail: str) -> None:
        self.findings.append(Finding(code, severity, path, detail))

    def _assemble(self, chosen: dict[str, Entry]) -> Inspection:
        about, libraries = self.about, self.libraries
        build = self._build_info()
        claimed = self._claimed()
        versions = {name for item in libraries for name in item.tag_versions}
        high = tags.highest(versions)
        machine = _common(item.machine for item in libraries)
        linux = any(item.format == "ELF" for item in libraries)
        real = tags.real_tag(versions, machine) if linux else ""
        honoured = all(tags.honoured(tag, real) for tag in claimed) if linux else True
        cuda = _cuda(libraries, build)
        isa, evidence = _isa(libraries)
        self._judge(chosen, claimed, real, honoured, cuda, build)
        needed = sorted({name for item in libraries for name in item.needed})
        own = {path.rpartition("/")[2] for path in chosen}
        system = tags.SYSTEM_LIBRARIES if linux else frozenset()
        outside = [n for n in needed if n.rpartition("/")[2] not in own and n not in system]
        bring = [n for n in outside if linux or not _part_of_system(n)]
        is_file = self.tree.path.is_file()
        return Inspection(
            file=self.tree.path.name,
            sha256=_file_sha256(self.tree.path) if is_file else "",
            size=self.tree.path.stat().st_size if is_file else 0,
            name=about.name,
            version=about.version,
            generator=about.generator,
            requires_python=about.requires_python,
            requires=list(about.requires),
            tags=Tags(claimed, real, honoured),
            glibc=high.get("GLIBC", ""),
            glibcxx=high.get("GLIBCXX", ""),
            cxxabi=high.get("CXXABI", ""),
            cxx11_abi=_abi(libraries),
            needed=needed,
            bring=bring,
            rpath=sorted({part for item in libraries for part in item.rpath}),
            compilers=sorted({text for item in libraries for text in item.compilers}),
            git_version=next((item.git_version for item in libraries if item.git_version), ""),
            isa_floor=isa,
            isa_evidence=evidence,
            cuda=cuda,
            build_info=build,
            sizes=_sizes(chosen, {item.path for item in libraries}),
            members=len(chosen),
            record_ok=not self.record_faults,
            record_faults=self.record_faults,
            runs_on=runs_on.conclude(
                python_tags=self._pythons(),
                platforms=claimed,
                machine=machine,
                glibc=high.get("GLIBC", ""),
                glibcxx=high.get("GLIBCXX", ""),
                minimum_os=max((i.minimum_os for i in libraries), key=runs_on.dotted, default=""),
                isa=isa,
                gpu=bool(cuda and cuda.containers),
                cuda=cuda.version if cuda else "",
                cudnn=cuda.cudnn if cuda else "",
                sass=cuda.sass if cuda else [],
                ptx=cuda.ptx if cuda else [],
                bring=bring,
            ),
            findings=sorted(self.findings, key=lambda f: (f.severity, f.code, f.path)),
            libraries=libraries,
        )

    def _build_info(self) -> dict[str, object]:
        for path in self.tree.entries:
            if contents.BUILD_INFO.fullmatch(contents.installed_path(path)):
                text = read_small(self.tree, path, 1 << 20).decode("utf-8", "replace")
                try:
                    return contents.build_info(text)
                except ValueError as error:
                    self._find("build-info", "warning", path, str(error))
        return {}

    def _claimed(self) -> list[str]:
        """Platform tags by file name and WHEEL; a disagreement is a finding."""
        in_wheel = {part for tag in self.about.tags for part in tag.split("-")[-1].split(".")}
        if self.tree.kind != "zip":
            return sorted(in_wheel)
        try:
            name, version, _, by_name = parse_wheel_filename(self.tree.path.name)
        except InvalidWheelFilename as error:
            self._find("name", "error", self.tree.path.name, f"not a wheel's file name: {error}")
            return sorted(in_wheel)
        if name != canonicalize_name(self.about.name) or str(version) != self.about.version:
            detail = f"METADATA says {self.about.name} {self.about.version}"
            self._find("name", "error", self.tree.path.name, detail)
        platforms = {tag.platform for tag in by_name}
        if in_wheel != platforms:
            detail = f"WHEEL says {', '.join(sorted(in_wheel)) or 'nothing'}"
            self._find("tag-mismatch", "warning", self.tree.path.name, detail)
        return sorted(platforms)

    def _pythons(self) -> list[str]:
        return sorted({tag.split("-")[0] for tag in self.about.tags})

    def _judge(
        self,
        chosen: dict[str, Entry],
        claimed: list[str],
        real: str,
        honoured: bool,
        cuda: Cuda | None,
        build: dict[str, object],
    ) -> None:
        name = self.tree.path.name
        if not honoured:
            culprits = self._culprits(claimed)
            detail = f"{', '.join(claimed)} is claimed, the libraries need {real}: {culprits}"
            self._find("tag-broken", "error", name, detail)
        if self.record_faults:
            more = f" and {len(self.record_faults) - 1} more" if self.record_faults[1:] else ""
            self._find("record", "error", name, self.record_faults[0] + more)
        wants_gpu = "gpu" in self.about.name or build.get("is_cuda_build") is True
        if wants_gpu and not (cuda and cuda.containers):
            detail = "it is called a GPU build and holds no GPU code: it is a CPU build"
            self._find("cpu-build", "error", name, detail)
        for item in self.libraries:
            if item.executable_stack:
                self._find("executable-stack", "warning", item.path, "its stack is executable")
            if item.writable_code:
                self._find("writable-code", "warning", item.path, "a segment is writable code")
            for part in item.rpath:
                if part and not part.startswith(("$ORIGIN", "@loader_path", "@rpath", "@exec")):
                    self._find("rpath", "warning", item.path, f"it looks for libraries in {part}")
        loose = self.tree.hidden()[0] if isinstance(self.tree, ZipTree) else 0
        if loose:
            detail = f"{loose} bytes of the archive belong to no member"
            self._find("hidden-bytes", "error", name, detail)
        for path in chosen if self.tree.kind == "zip" else ():
            folders = path.split("/")[:-1]
            if path.endswith(_STRAYS) or any(folder in _STRAY_FOLDERS for folder in folders):
                self._find("stray", "warning", path, "it does not belong in a wheel")

    def _culprits(self, claimed: list[str]) -> str:
        """The libraries and symbol versions that break a tag, at most three."""
        found: list[str] = []
        for item in self.libraries:
            real = tags.real_tag(item.tag_versions, item.machine)
            if not all(tags.honoured(tag, real) for tag in claimed):
                needs = " ".join(f"{k}_{v}" for k, v in sorted(item.versions.items()))
                found.append(f"{item.path} ({item.machine}: {needs})")
        return ", ".join(found[:3])


def _common(machines: Iterator[str] | list[str]) -> str:
    counted = Counter(machines)
    return counted.most_common(1)[0][0] if counted else ""


def _abi(libraries: list[Library]) -> bool | None:
    known = [item.cxx11_abi for item in libraries if item.cxx11_abi is not None]
    return any(known) if known else None


def _isa(libraries: list[Library]) -> tuple[str, str]:
    """The oldest CPU that the wheel is compiled for, and how that is known."""
    best = ("unknown", "nothing in the file tells: run the import under an older CPU to know")
    for item in libraries:
        level = _LEVELS.get(item.isa_needed, "")
        how = f"{item.path}: its GNU property note demands {item.isa_needed}"
        if item.simd and (not level or _rank(item.simd) > _rank(level)):
            level = item.simd
            how = f"{item.path}: Eigen was compiled for {item.simd}"
            how += " or newer (AVX2 and FMA builds say the same)" if level == "AVX" else ""
        if level and _rank(level) > _rank(best[0]):
            best = (level, how)
    return best


def _rank(level: str) -> int:
    return ISA_ORDER.index(level) if level in ISA_ORDER else -(level == "unknown") - 1


def _cuda(libraries: list[Library], build: dict[str, object]) -> Cuda | None:
    sizes: Counter[str] = Counter()
    containers = 0
    for item in libraries:
        sizes.update(item.sass)
        sizes.update(item.ptx)
        containers += item.containers
    version = _of_dll(_text(build, "cuda_version", "cuda_version_number"), minor=True)
    cudnn = _of_dll(_text(build, "cudnn_version", "cudnn_version_number"), minor=False)
    if not containers and build.get("is_cuda_build") is not True:
        return None
    for item in libraries:
        for name in item.needed:
            stem, _, number = name.partition(".so.")
            version = version or (number if stem == "libcudart" else "")
            cudnn = cudnn or (number if stem == "libcudnn" else "")
    ordered = sorted(sizes, key=lambda name: int(name.rpartition("_")[2]))
    return Cuda(
        version=version,
        cudnn=cudnn,
        sass=[name for name in ordered if name.startswith("sm_")],
        ptx=[name for name in ordered if name.startswith("compute_")],
        containers=containers,
        bytes={name: sizes[name] for name in ordered},
    )


def _text(build: dict[str, object], *keys: str) -> str:
    return next((str(build[key]) for key in keys if build.get(key)), "")


def _of_dll(version: str, *, minor: bool) -> str:
    """Windows builds give their DLL's suffix: 64_112 is CUDA 11.2, 64_8 is cuDNN 8."""
    digits = version.removeprefix("64_")
    if digits == version or not digits.isdigit():
        return version
    return f"{digits[:-1]}.{digits[-1]}" if minor and len(digits) > 1 else digits


def _sizes(chosen: dict[str, Entry], native: set[str]) -> dict[str, int]:
    """Bytes after unpacking, by kind of member."""
    found = {"libraries": 0, "python": 0, "headers": 0, "other": 0}
    for path, entry in chosen.items():
        if path in native:
            kind = "libraries"
        elif path.endswith((".py", ".pyi", ".pyc")):
            kind = "python"
        elif "/include/" in path:
            kind = "headers"
        else:
            kind = "other"
        found[kind] += entry.size
    return found


def _part_of_system(name: str) -> bool:
    """Whether a DLL or install name belongs to Windows, macOS or Python itself."""
    lower = name.lower()
    return lower.startswith(_SYSTEM_PATHS) or lower.removesuffix(".dll") in _WINDOWS


def _file_sha256(path: Path) -> str:
    from tfenv.files import sha256_file

    try:
        return sha256_file(path)
    except OSError as error:
        raise BadWheelError(
            f"{path.name} cannot be read", error.strerror or str(error), "check the file"
        ) from error
