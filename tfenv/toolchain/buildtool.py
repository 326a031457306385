"""Which Bazel (or CMake) builds a release."""

from __future__ import annotations

import re

from tfenv import facts
from tfenv.errors import ConflictError
from tfenv.facts import schema
from tfenv.facts.versions import tree
from tfenv.target import Target, distance, version_key, within
from tfenv.toolchain import lookup
from tfenv.toolchain.model import Choices, Chosen, Rejected

VIA = ("bazelisk", "installer", "binary")

BAZEL_PLATFORM: dict[schema.Platform, str] = {
    "linux-x86_64": "linux-x86_64",
    "linux-aarch64": "linux-arm64",
    "macos-x86_64": "darwin-x86_64",
    "macos-arm64": "darwin-arm64",
    "windows-x86_64": "windows-x86_64",
}
BAZELISK_PLATFORM: dict[schema.Platform, str] = {
    "linux-x86_64": "linux-amd64",
    "linux-aarch64": "linux-arm64",
    "macos-x86_64": "darwin-amd64",
    "macos-arm64": "darwin-arm64",
    "windows-x86_64": "windows-amd64",
}


def build_tool(target: Target, choices: Choices) -> dict[str, Chosen]:
    """Bazel and how it comes, or CMake."""
    known = lookup.builder(target)
    if known is not None and known.build_tool == "cmake":
        if choices.bazel:
            raise ConflictError(
                f"{target.name} is not built by Bazel",
                f"Windows releases through 1.10 are built by CMake ({known.source})",
                "leave --bazel out",
            )
        what = f"CMake {known.build_tool_version}"
        reason = "Windows releases through 1.10 are built by CMake; "
        reason += lookup.tested_words(target, known, what)
        return {"cmake": Chosen(known.build_tool_version, "tested", reason, known.source)}
    bazel = _bazel(target, choices)
    values = {"bazel": bazel, "bazel-via": _via(target, choices, bazel.value)}
    if target.platform == "macos-x86_64" and within(target.version, "<2"):
        reason = (
            f"Bazel {bazel.value} compiles its Java tools with a local JDK, of which it supports 8"
        )
        values["jdk"] = Chosen("8", "bazel-java", reason, "bazelbuild/bazel issues 5744, 7943")
    return values


def bound(target: Target) -> schema.BazelBound | None:
    """What the release's own tree says about Bazel."""
    rows = facts.grouped(schema.BazelBound, "version")
    return next(iter(rows.get((tree(target.version),), ())), None)


def _bazel(target: Target, choices: Choices) -> Chosen:
    limit = bound(target)
    default = _default(target, limit)
    if not choices.bazel:
        return default
    if not re.fullmatch(r"\d+(\.\d+)*", choices.bazel):
        raise ConflictError(
            f"--bazel {choices.bazel} is not a version of Bazel",
            "they are dotted numbers",
            f"--bazel {default.value}",
        )
    if choices.bazel != default.value:
        _refuse_out_of_bounds(target, choices.bazel, limit)
        _refuse_unknown(target, choices.bazel)
        source = limit.source if limit else "tfenv/facts/bazel.toml"
        reason = f"--bazel {choices.bazel}, inside the bounds of the release"
        return Chosen(choices.bazel, "user", reason, source, _refused(limit))
    reason = f"--bazel {choices.bazel}, which is the default: {default.reason}"
    return Chosen(choices.bazel, "user", reason, default.source, default.rejected)


def _default(target: Target, limit: schema.BazelBound | None) -> Chosen:
    known = lookup.builder(target)
    if limit is not None and limit.file:
        reason = f".bazelversion of TensorFlow {target.version}"
        return Chosen(limit.file, "bazelversion", reason, limit.source, _refused(limit))
    if known is not None:
        version = known.build_tool_version
        words = lookup.tested_words(target, known, f"Bazel {version}")
        if limit is None or not _problem(limit, version):
            return Chosen(version, "tested", words, known.source, _refused(limit))
        version = _newest_inside(target, limit)
        reason = f"{words}, and this release refuses it: the newest with a known hash in its bounds"
        return Chosen(version, "bounds", reason, limit.source, _refused(limit))
    raise ConflictError(
        f"no Bazel is known for {target.name}",
        "neither the release's tree nor its documents were read",
        "choose one with --bazel",
    )


def _refused(limit: schema.BazelBound | None) -> tuple[Rejected, ...]:
    if limit is None:
        return ()
    found: list[Rejected] = []
    if limit.min:
        found.append(
            Rejected(f"<{limit.min}", f"older than what is let in by: {limit.kind}", limit.source)
        )
    if limit.max:
        found.append(
            Rejected(f">{limit.max}", f"newer than what is let in by: {limit.kind}", limit.source)
        )
    return tuple(found)


def _newest_inside(target: Target, limit: schema.BazelBound) -> str:
    platform = BAZEL_PLATFORM[target.platform]
    versions = {r.version for r in facts.rows(schema.BazelFile) if r.platform == platform}
    inside = [v for v in versions if not _problem(limit, v)]
    return max(inside, key=version_key, default=limit.min or limit.max)


def _problem(limit: schema.BazelBound, wanted: str) -> str:
    """Why a release refuses a Bazel, or an empty string."""
    version = version_key(wanted)
    low, high = limit.min or limit.file, limit.max or limit.file
    if low and version < version_key(low):
        return "older than the minimum " + low
    if high and version > version_key(high):
        return "newer than the maximum " + high
    return ""


def _refuse_out_of_bounds(target: Target, wanted: str, limit: schema.BazelBound | None) -> None:
    problem = _problem(limit, wanted) if limit else ""
    if limit is None or not problem:
        return
    near = limit.file or (limit.min if problem.startswith("older") else limit.max)
    raise ConflictError(
        f"Bazel {wanted} cannot build TensorFlow {target.version}",
        f"it is {problem} ({limit.kind}; {limit.source})",
        f"--bazel {near if _published(target, near) else _default(target, limit).value}",
    )


def _refuse_unknown(target: Target, wanted: str) -> None:
    if _published(target, wanted):
        return
    limit = bound(target)
    platform = BAZEL_PLATFORM[target.platform]
    near = sorted(
        {
            r.version
            for r in facts.rows(schema.BazelFile)
            if r.platform == platform and limit and not _problem(limit, r.version)
        },
        key=lambda v: distance(v, wanted),
    )
    default = _default(target, limit).value
    raise ConflictError(
        f"no file of Bazel {wanted} is known for {target.platform}",
        "its hash stands in no source that tfenv's facts were read from",
        f"--bazel {near[0] if near and limit and (limit.max or limit.file) else default}",
    )


def _published(target: Target, version: str) -> bool:
    return bool(bazel_files(target, version))


def bazel_files(target: Target, version: str) -> tuple[schema.BazelFile, ...]:
    """Every published file of one Bazel for the target's platform."""
    rows = facts.grouped(schema.BazelFile, "platform", "version")
    return rows.get((BAZEL_PLATFORM[target.platform], version), ())


def _via(target: Target, choices: Choices, version: str) -> Chosen:
    kinds = {r.kind: r for r in bazel_files(target, version)}
    source = next((r.source for r in kinds.values()), "tfenv/facts/bazel.toml")
    rejected = _ways_refused(target, version, set(kinds))
    wanted = choices.bazel_via
    if wanted and wanted not in VIA:
        raise ConflictError(
            f"--bazel-via {wanted} is not a way to get Bazel",
            f"the ways are {', '.join(VIA)}",
            "--bazel-via bazelisk",
        )
    refused = next((r for r in rejected if r.value == wanted), None)
    if refused is not None:
        rest = [way for way in VIA if way not in {r.value for r in rejected}]
        raise ConflictError(
            f"Bazel {version} does not come by {wanted}",
            f"{refused.reason} ({refused.source})",
            f"--bazel-via {rest[0] if rest else 'bazelisk'}",
        )
    if wanted:
        return Chosen(wanted, "user", f"--bazel-via {wanted}", source, rejected)
    if "binary" in kinds and target.platform in BAZELISK_PLATFORM:
        reason = "Bazelisk fetches the release binary, whose sha256 the lock holds"
        return Chosen("bazelisk", "bazelisk-first", reason, source, rejected)
    for way in ("installer", "binary"):
        if not any(r.value == way for r in rejected):
            reason = f"the sha256 of this version's binary is not known: the {way} is taken"
            return Chosen(way, "what-is-pinned", reason, source, rejected)
    reason = "no file of this version has a known sha256"
    return Chosen("bazelisk", "unpinned", reason, source, rejected)


def _ways_refused(target: Target, version: str, kinds: set[str]) -> tuple[Rejected, ...]:
    found: list[Rejected] = []
    single = {"binary", "windows-zip"}
    if "installer" not in kinds:
        reason = f"no installer of {version} for {target.platform} has a known sha256"
        found.append(Rejected("installer", reason, "tfenv/facts/bazel.toml"))
    if not single & kinds:
        reason = f"no binary of {version} for {target.platform} has a known sha256"
        found.append(Rejected("binary", reason, "tfenv/facts/bazel.toml"))
    return tuple(found)
