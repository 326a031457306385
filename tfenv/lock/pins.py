"""What one format must pin otherwise than the toolchain says, and why.

Nix has the versions of one nixpkgs revision, conda those of its channels, an image the Python of
its distribution. Each difference stands in the lock's format table with its reason.
"""

from __future__ import annotations

import functools

import msgspec

from tfenv import facts
from tfenv.errors import ConflictError
from tfenv.facts import schema
from tfenv.lock.model import Value
from tfenv.target import Target, version_key, within
from tfenv.toolchain.base import compiler_major, os_row
from tfenv.toolchain.cuda import pairs
from tfenv.toolchain.lookup import any_wheel
from tfenv.toolchain.model import Toolchain, matches


class NixPlan(msgspec.Struct, frozen=True):
    """The nixpkgs revision for a target, and what it offers."""

    release: str
    choices: dict[str, schema.NixChoice]  # component -> what is taken
    refused: str = ""  # why Nix cannot serve the target


def format_pins(toolchain: Toolchain) -> dict[str, dict[str, Value]]:
    """The format tables of a lock."""
    found = {"nix": _nix_pins(toolchain), "conda": _conda_pins(toolchain)}
    if toolchain.target.linux:
        found["docker"] = _docker_pins(toolchain)
    return {name: table for name, table in found.items() if table}


# Nix -------------------------------------------------------------------------------------------


@functools.cache
def _nix_rows() -> dict[str, dict[tuple[str, str], schema.NixChoice]]:
    table: dict[str, dict[tuple[str, str], schema.NixChoice]] = {}
    for row in facts.rows(schema.NixChoice):
        table.setdefault(row.release, {})[(row.component, row.wanted)] = row
    return table


def nix_plan(toolchain: Toolchain) -> NixPlan:
    """A nixpkgs release with all that the target needs, or why there is none."""
    if not toolchain.target.linux:
        return NixPlan("", {}, "the flakes are for Linux")
    family, _, version = toolchain.get("compiler").partition(" ")
    wanted = [("python", toolchain.get("python"))]
    wanted.append((family.lower(), compiler_major(family.lower(), version)))
    able: list[NixPlan] = []
    for release in sorted(_nix_rows(), key=version_key):
        have = _nix_rows()[release]
        found = {component: have.get((component, value)) for component, value in wanted}
        if _needs_cuda(toolchain.target):
            minor = _nix_cuda(toolchain, have)
            found["cuda"] = have.get(("cuda", minor))
            found["cudnn"] = have.get(("cudnn", minor))
        if all(found.values()) and _pin(release) is not None:
            able.append(NixPlan(release, {k: v for k, v in found.items() if v is not None}))
    if able:
        return _of_its_time(able, toolchain.target)
    needs = ", ".join(f"{component} {value}" for component, value in wanted)
    if _needs_cuda(toolchain.target):
        needs += f" and CUDA {toolchain.get('cuda')} with a cuDNN"
    return NixPlan("", {}, f"no nixpkgs release is known to have {needs}")


def _needs_cuda(target: Target) -> bool:
    """Whether CUDA must come from nixpkgs: since 2.18 Bazel fetches its own."""
    return target.cuda and within(target.version, "<2.18")


def _of_its_time(able: list[NixPlan], target: Target) -> NixPlan:
    """The newest nixpkgs release that is not younger than TensorFlow's, else the oldest."""
    row = any_wheel(target)
    released = f"{row.date[2:4]}.{row.date[5:7]}" if row else ""
    before = [plan for plan in able if plan.release < released]
    return before[-1] if before else able[0]


def _nix_cuda(toolchain: Toolchain, have: dict[tuple[str, str], schema.NixChoice]) -> str:
    """The CUDA minor to take from a release: the toolchain's, else another known pair's."""
    chosen = toolchain.get("cuda")
    if toolchain.choices.cuda:
        return ".".join(chosen.split(".")[:2])
    names = [".".join(chosen.split(".")[:2]), *(p.cuda for p in pairs(toolchain.target))]
    return next((n for n in names if ("cuda", n) in have and ("cudnn", n) in have), names[0])


@functools.cache
def _pin(release: str) -> schema.NixpkgsPin | None:
    rows = facts.rows(schema.NixpkgsPin)
    return next((r for r in rows if r.release == release and r.preferred), None)


def nixpkgs(toolchain: Toolchain) -> schema.NixpkgsPin | None:
    """The nixpkgs revision of a target's flake."""
    plan = nix_plan(toolchain)
    return _pin(plan.release) if plan.release else None


def _nix_pins(toolchain: Toolchain) -> dict[str, Value]:
    plan = nix_plan(toolchain)
    if not plan.release:
        return {"unavailable": Value(value="true", reason=plan.refused, source="nix-choices.toml")}
    table = {
        "nixpkgs": Value(
            value=plan.release,
            reason="the nixpkgs release of TensorFlow's time that has all that the target needs",
            source="nix-choices.toml",
        )
    }
    for component, row in plan.choices.items():
        key = "compiler" if component in ("gcc", "clang") else component
        table[key] = Value(
            value=row.version,
            reason=f"what nixpkgs {row.release} has as {row.attributes[0]}",
            source=row.source,
        )
    return table


# conda -----------------------------------------------------------------------------------------

SUBDIR: dict[schema.Platform, str] = {
    "linux-x86_64": "linux-64",
    "linux-aarch64": "linux-aarch64",
    "macos-x86_64": "osx-64",
    "macos-arm64": "osx-arm64",
    "windows-x86_64": "win-64",
}


def conda_builds(target: Target, name: str) -> tuple[schema.CondaPackage, ...]:
    """Known builds of a package on conda-forge, for the target's platform."""
    rows = facts.grouped(schema.CondaPackage, "channel", "subdir", "name")
    return rows.get(("conda-forge", SUBDIR[target.platform], name), ())


def _conda_pins(toolchain: Toolchain) -> dict[str, Value]:
    target = toolchain.target
    table: dict[str, Value] = {}
    python = _newest(conda_builds(target, "python"), toolchain.get("python"))
    if python is not None:
        table["python"] = Value(
            value=python.version,
            reason="the newest patch that conda-forge is known to have",
            source=python.source,
        )
    if target.cuda:
        table |= _conda_cuda(toolchain)
    return table


def _conda_cuda(toolchain: Toolchain) -> dict[str, Value]:
    target, table = toolchain.target, {}
    minor = ".".join(toolchain.get("cuda").split(".")[:2])
    kits = conda_builds(target, "cudatoolkit")
    # conda's archive of the release's own tested CUDA is what people have run wheels with for
    # years: it comes first for the purpose `run`, the toolchain's for `build`.
    row = _newest(kits, minor)
    if row is None:
        return {}
    table["cuda"] = Value(
        value=row.version,
        reason=f"conda-forge's cudatoolkit of CUDA {minor}",
        source=row.source,
    )
    prefix = ".".join(toolchain.get("cudnn").split(".")[:3])
    cudnn = _newest(conda_builds(target, "cudnn"), prefix) or _newest(
        conda_builds(target, "cudnn"), ".".join(prefix.split(".")[:2])
    )
    if cudnn is not None:
        table["cudnn"] = Value(
            value=cudnn.version,
            reason=f"conda-forge's cuDNN nearest to {toolchain.get('cudnn')}",
            source=cudnn.source,
        )
    return table


def _newest(rows: tuple[schema.CondaPackage, ...], wanted: str) -> schema.CondaPackage | None:
    fit = [r for r in rows if matches(r.version, wanted)]
    return max(fit, key=lambda r: version_key(r.version), default=None)


# docker ----------------------------------------------------------------------------------------


def image(toolchain: Toolchain) -> schema.Image | None:
    """The base image: NVIDIA's when it was asked for, else the distribution's.

    Raises:
        ConflictError: no image of NVIDIA for this CUDA and base system is known to be alive.
    """
    if toolchain.choices.base == "nvidia":
        return nvidia_image(toolchain)
    name, _, tag = toolchain.get("base").partition(":")
    rows = facts.rows(schema.Image)
    same = [r for r in rows if r.image == name and r.tag in _tags(name, tag) and r.digest]
    return max(same, key=lambda r: r.preferred, default=None)


def _tags(name: str, tag: str) -> tuple[str, ...]:
    codename = os_row(f"{name}:{tag}").codename
    return (tag, codename, f"{codename}-slim")


def nvidia_image(toolchain: Toolchain) -> schema.Image:
    """NVIDIA's development image for the toolchain's CUDA and base system, unless it is gone.

    Raises:
        ConflictError: there is none; the message names those that are not known to be gone.
    """
    base = toolchain.get("base")
    minor = ".".join(toolchain.get("cuda").split(".")[:2])
    alive = [
        row
        for row in facts.rows(schema.Image)
        if row.image == "nvidia/cuda"
        and not row.gone
        and "-cudnn" in row.tag
        and row.tag.endswith(f"-devel-{base.replace(':', '')}")
    ]
    fit = [row for row in alive if minor and row.tag.startswith(f"{minor}.")]
    if fit:
        return max(fit, key=lambda row: (bool(row.digest), row.preferred, row.tag))
    known = sorted({row.tag.partition("-")[0] for row in alive}, key=version_key)
    raise ConflictError(
        f"no image nvidia/cuda with CUDA {minor or '(none)'} on {base} is known",
        f"NVIDIA deletes old tags; not known to be gone on {base}: {', '.join(known) or 'none'}",
        "leave --base out (NVIDIA's runfile by hash)"
        + (f", or --cuda {known[-1]}" if known else ""),
    )


def python_source(toolchain: Toolchain) -> schema.CPython | None:
    """python.org's source, where the base system's own Python is another minor."""
    if not toolchain.target.linux:
        return None
    system, minor = os_row(toolchain.get("base")), toolchain.get("python")
    if minor == system.python or minor in system.pythons:
        return None
    return _newest_source(minor)


@functools.cache
def _newest_source(minor: str) -> schema.CPython | None:
    rows = [r for r in facts.rows(schema.CPython) if matches(r.version, minor)]
    best = [r for r in rows if r.url.endswith((".tgz", ".tar.gz"))] or rows
    return max(best, key=lambda r: version_key(r.version), default=None)


def _docker_pins(toolchain: Toolchain) -> dict[str, Value]:
    table: dict[str, Value] = {}
    row = image(toolchain)
    base = toolchain.values["base"]
    if row is not None:
        digest = f", {row.digest_kind}" if row.digest_kind else ""
        table["image"] = Value(
            value=f"{row.image}:{row.tag}" + (f"@{row.digest}" if row.digest else ""),
            reason=f"{base.value} by {'digest' if row.digest else 'tag'}{digest}",
            source=row.source,
        )
        if row.image == "nvidia/cuda":
            table["cuda"] = Value(
                value=row.tag.partition("-")[0],
                reason="what NVIDIA's image holds",
                source=row.source,
            )
    source = python_source(toolchain)
    if source is not None:
        table["python"] = Value(
            value=source.version,
            reason=f"built from python.org's source: {base.value} has Python "
            f"{os_row(base.value).python}",
            source=source.source,
        )
    return table
