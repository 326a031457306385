"""Toolchain -> lock. Pure: every hash comes from the facts or from a shipped Python lock."""

from __future__ import annotations

import msgspec

from tfenv import facts
from tfenv.facts import schema
from tfenv.facts.pinned import Pinned, parse, shipped
from tfenv.facts.versions import tree
from tfenv.files import sha256_bytes
from tfenv.lock import pins
from tfenv.lock.model import FORMAT, Artifact, ArtifactKind, Lock, PythonLock, Value
from tfenv.target import Target, version_key
from tfenv.toolchain import cuda as cuda_rules
from tfenv.toolchain import lookup
from tfenv.toolchain.buildtool import BAZELISK_PLATFORM, bazel_files
from tfenv.toolchain.model import Chosen, Toolchain, matches

UNPINNED = "no source that the facts were read from states its hash"


class PythonFiles(msgspec.Struct, frozen=True):
    """The two files of a Python lock."""

    file: str
    text: str
    build_text: str = ""

    @property
    def build_file(self) -> str:
        """The name of the build tools' file, or an empty string."""
        return self.file.removesuffix(".txt") + ".build.txt" if self.build_text else ""


def shipped_files(toolchain: Toolchain) -> PythonFiles | None:
    """The shipped Python lock of a toolchain."""
    found = lookup.python_lock(toolchain.target, toolchain.get("python"))
    if found is None:
        return None
    file = found[0]
    build = shipped(file.removesuffix(".txt") + ".build.txt")
    return PythonFiles(file, shipped(file) or "", build or "")


def make(toolchain: Toolchain, files: PythonFiles | None = None) -> Lock:
    """Everything that is downloaded for a toolchain.

    Args:
        toolchain: what was chosen.
        files: the Python lock; the shipped one when absent.
    """
    target = toolchain.target
    files = files or shipped_files(toolchain)
    pinned = parse(files.text, files.file) if files else None
    artifacts = [_source(target), *_bazel(toolchain), *_cuda(toolchain), *_images(toolchain)]
    artifacts += [*_cpython(toolchain), *_nixpkgs(toolchain)]
    if files is not None and pinned is not None:
        artifacts += [_sdist(pin, files.file) for pin in pinned.sdists]
    return Lock(
        format=FORMAT,
        target=target.name,
        as_of=pinned.header.get("as-of", "") if pinned else _released(target),
        toolchain={key: _value(chosen) for key, chosen in toolchain.values.items()},
        python=_python(files) if files else None,
        artifact=artifacts,
        formats=pins.format_pins(toolchain),
    )


def _value(chosen: Chosen) -> Value:
    return Value(value=chosen.value, reason=chosen.reason, source=chosen.source)


def _released(target: Target) -> str:
    row = lookup.any_wheel(target)
    return row.date if row else ""


def _python(files: PythonFiles) -> PythonLock:
    build = files.build_text
    return PythonLock(
        file=files.file,
        sha256=sha256_bytes(files.text.encode()),
        build_file=files.build_file,
        build_sha256=sha256_bytes(build.encode()) if build else "",
    )


def _source(target: Target) -> Artifact:
    rows = facts.grouped(schema.Source, "version")
    row = next(iter(rows.get((tree(target.version),), ())), None)
    if row is None:
        tag = f"v{target.version}"
        url = f"https://github.com/tensorflow/tensorflow/archive/{tag}.tar.gz"
        return _artifact("tensorflow", "source", target.version, [url], "the release's tag")
    # An archive by commit holds the same tree under another name, so it is another file: it is a
    # second place for people, never a second address of this artifact.
    return _artifact("tensorflow", "source", row.version, [row.url], row.source, row.sha256)


def _bazel(toolchain: Toolchain) -> list[Artifact]:
    version, target = toolchain.get("bazel"), toolchain.target
    if not version:
        return []
    found = []
    for kind in ("binary", "windows-zip", "installer"):
        rows = [r for r in bazel_files(target, version) if r.kind == kind]
        if rows:
            row = rows[0]
            name = "bazel-installer" if kind == "installer" else "bazel"
            item = _artifact(name, "bazel", version, [row.url], row.source, row.sha256)
            found.append(msgspec.structs.replace(item, size=row.size))
    if not found:
        url = f"https://github.com/bazelbuild/bazel/releases/tag/{version}"
        found.append(_artifact("bazel", "bazel", version, [url], "the release's page"))
    return [*found, *_bazelisk(target)]


def _bazelisk(target: Target) -> list[Artifact]:
    platform = BAZELISK_PLATFORM[target.platform]
    rows = facts.grouped(schema.BazeliskFile, "platform").get((platform,), ())
    row = max(rows, key=lambda r: version_key(r.version), default=None)
    if row is None:
        return []
    return [_artifact("bazelisk", "bazelisk", row.version, [row.url], row.source, row.sha256)]


def _cuda(toolchain: Toolchain) -> list[Artifact]:
    version, target = toolchain.get("cuda"), toolchain.target
    if not version:
        return []
    if manifests := _manifests(toolchain):
        return manifests
    rows = facts.grouped(schema.CudaToolkit, "version", "platform")[version, target.platform]
    row = max(rows, key=lambda r: bool(r.sha256))
    cudnn = toolchain.get("cudnn")
    archive = cuda_rules.archive(target, version, cudnn)
    toolkit = _artifact("cuda", "cuda", version, [row.url], row.source, row.sha256)
    if row.md5 and not row.sha256:
        weak = (
            f"its source states an md5 alone, {row.md5}: that proves no more than a whole download"
        )
        toolkit = msgspec.structs.replace(toolkit, unpinned=weak)
    found = [toolkit]
    if archive is None or not archive.url:
        source = archive.source if archive else toolchain.values["cudnn"].source
        reason = "NVIDIA serves this archive only behind a login, or its address is not known"
        found.append(
            Artifact(
                name="cudnn", kind="cudnn", version=cudnn, urls=[], source=source, unpinned=reason
            )
        )
    else:
        found.append(
            _artifact("cudnn", "cudnn", cudnn, [archive.url], archive.source, archive.sha256)
        )
    return found


def _manifests(toolchain: Toolchain) -> list[Artifact]:
    """NVIDIA's manifests by hash, which hold the hashes of all that a hermetic build downloads."""
    if not cuda_rules.hermetic(toolchain.target):
        return []
    found: list[Artifact] = []
    for product in ("cuda", "cudnn"):
        version = toolchain.get(product)
        rows = facts.grouped(schema.Redist, "product", "host").get((product, "NVIDIA"), ())
        row = next((r for r in rows if matches(version, r.version)), None)
        if row is None:
            return []
        kind: ArtifactKind = "cuda" if product == "cuda" else "cudnn"
        found.append(_artifact(product, kind, version, [row.url], row.source, row.sha256))
    return found


def _images(toolchain: Toolchain) -> list[Artifact]:
    if not toolchain.target.linux:
        return []
    row = pins.image(toolchain)
    if row is None:
        base = toolchain.get("base")
        return [
            Artifact(
                name=base,
                kind="image",
                version=base.partition(":")[2],
                urls=[f"docker.io/library/{base}"],
                source="image facts",
                formats=["docker"],
                unpinned="no digest of this tag is known",
            )
        ]
    place = row.image if "/" in row.image else f"library/{row.image}"
    return [
        Artifact(
            name=f"{row.image}:{row.tag}",
            kind="image",
            version=row.tag,
            urls=[f"docker.io/{place}"],
            source=row.source,
            digest=row.digest,
            formats=["docker"],
            unpinned="" if row.digest else "no digest of this tag is known",
        )
    ]


def _cpython(toolchain: Toolchain) -> list[Artifact]:
    row = pins.python_source(toolchain)
    if row is None:
        return []
    artifact = _artifact("cpython", "cpython", row.version, [row.url], row.source, row.sha256)
    return [msgspec.structs.replace(artifact, formats=["docker"])]


def _nixpkgs(toolchain: Toolchain) -> list[Artifact]:
    row = pins.nixpkgs(toolchain)
    if row is None:
        return []
    return [
        Artifact(
            name="nixpkgs",
            kind="nixpkgs",
            version=row.release,
            urls=[f"https://github.com/NixOS/nixpkgs/archive/{row.rev}.tar.gz"],
            source=row.source,
            nar_hash=row.nar_hash,
            rev=row.rev,
            last_modified=row.last_modified,
            formats=["nix"],
        )
    ]


def _sdist(pin: Pinned, file: str) -> Artifact:
    return Artifact(
        name=pin.name,
        kind="sdist",
        version=pin.version,
        urls=[],  # the index is the user's setting
        source=f"locks/python/{file}",
        size=pin.size,
        sha256=pin.sha256,
        file=pin.file,
    )


def _artifact(
    name: str, kind: ArtifactKind, version: str, urls: list[str], source: str, sha256: str = ""
) -> Artifact:
    return Artifact(
        name=name,
        kind=kind,
        version=version,
        urls=urls,
        source=source,
        sha256=sha256,
        unpinned="" if sha256 else UNPINNED,
    )
