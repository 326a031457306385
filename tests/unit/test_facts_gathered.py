"""The tables say what was gathered, or say in `note` where and why they differ.

The gathered tables lie beside the checkout on some machines; without them these tests skip.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from packaging.version import Version

from tfenv import facts, toolchain
from tfenv.facts import schema
from tfenv.facts.update.wheels import DISTRIBUTIONS
from tfenv.target import Target, catalogue

GATHERED = Path(__file__).resolve().parents[2].parent / "shared" / "facts"
PLATFORMS = {
    "linux_x86_64": "linux-x86_64",
    "linux_aarch64": "linux-aarch64",
    "macos_x86_64": "macos-x86_64",
    "macos_arm64": "macos-arm64",
    "win_amd64": "windows-x86_64",
}


def gathered(name: str) -> list[dict[str, str]]:
    """The rows of one gathered table."""
    path = GATHERED / f"{name}.tsv"
    if not path.is_file():
        pytest.skip("the gathered tables are not beside this checkout")
    lines = path.read_text("utf-8").splitlines()
    head = lines[0].split("\t")
    return [dict(zip(head, line.split("\t"), strict=False)) for line in lines[1:]]


def in_scope(version: str) -> bool:
    """Whether it is a final release from 1.4.0 on."""
    parsed = Version(version)
    return parsed >= Version("1.4.0") and not parsed.is_prerelease and not parsed.is_postrelease


def bound_differences(ours: Iterable[schema.BazelBound]) -> list[str]:
    """Where the bounds are others than the gathered ones, and releases that only one table has."""
    table = {row.version: row for row in ours}
    theirs = {row["tf_version"]: row for row in gathered("bazel-bounds")}
    theirs = {version: row for version, row in theirs.items() if in_scope(version)}
    found = [f"{version}: only in one table" for version in theirs.keys() ^ table.keys()]
    for version in theirs.keys() & table.keys():
        row, other = table[version], theirs[version]
        pairs = {
            "min": (row.min, other["tf_min_bazel"]),
            "max": (row.max, other["tf_max_bazel"]),
            "file": (row.file, other["bazelversion_file"]),
            "confidence": (row.confidence, other["confidence"]),
        }
        found += [f"{version} {name}: {a} and {b}" for name, (a, b) in pairs.items() if a != b]
    return found


def test_bazel_bounds_are_those_that_were_gathered() -> None:
    assert bound_differences(facts.rows(schema.BazelBound)) == []
    assert len(facts.rows(schema.BazelBound)) == len(facts.rows(schema.Source)) >= 95


@pytest.mark.parametrize("change", [{"min": "0.1"}, {"max": "99"}, {"file": "1"}, {"version": "9"}])
def test_a_bound_that_contradicts_is_seen(change: dict[str, str]) -> None:
    first, *rest = facts.rows(schema.BazelBound)
    assert bound_differences([msgspec.structs.replace(first, **change), *rest])


def info_differences(ours: Iterable[schema.BuildInfo]) -> list[str]:
    """Where a wheel is said to say other things than were gathered, without a note that has them."""
    table = {(r.distribution, r.version, r.platform): r for r in ours}
    found = []
    for theirs in gathered("wheel-build-info"):
        key = (theirs["package"], theirs["version"], PLATFORMS[theirs["platform"]])
        if not in_scope(theirs["version"]):
            continue
        row = table.get(key)  # type: ignore[arg-type]
        if row is None:
            found.append(f"{key}: not in the table")
            continue
        pairs = {
            "cuda_build": (str(row.cuda_build), theirs["is_cuda_build"]),
            "capabilities": (" ".join(row.capabilities), theirs["cuda_compute_capabilities"]),
            "compiler": (row.compiler, theirs["cpu_compiler"]),
            "file": (row.file, theirs["filename"]),
        }
        found += [f"{key} {name}: {a} and {b}" for name, (a, b) in pairs.items() if a != b]
        for value, raw in (
            (row.cuda, theirs["cuda_version"]),
            (row.cudnn, theirs["cudnn_version"]),
        ):
            if value != raw and not (raw and raw in row.note):
                found.append(f"{key}: {value} and {raw}, and no note says why")
    return found


def test_build_info_is_what_was_gathered() -> None:
    assert info_differences(facts.rows(schema.BuildInfo)) == []


def test_every_release_has_build_info() -> None:
    """The gathered table has not every patch; ours has."""
    releases = {row.version for row in facts.rows(schema.Source)}
    wheels = {row.version for row in facts.rows(schema.Wheel) if not row.stub}
    theirs = {row["version"] for row in gathered("wheel-build-info") if in_scope(row["version"])}
    ours = {row.version for row in facts.rows(schema.BuildInfo)}
    assert ours == releases & wheels
    assert theirs <= ours
    assert len(theirs) >= 60


@pytest.mark.parametrize(
    "change",
    [
        {"cuda_build": True},
        {"cuda": "9.9"},
        {"cudnn": "9"},
        {"capabilities": ["sm_35"]},
        {"file": "x.whl"},
        {"version": "9"},
    ],
)
def test_build_info_that_contradicts_is_seen(change: dict[str, Any]) -> None:
    first, *rest = facts.rows(schema.BuildInfo)
    assert info_differences([msgspec.structs.replace(first, **change), *rest])


def test_tested_builds_differ_from_the_documents_only_with_a_reason() -> None:
    systems = {"linux": "linux-x86_64", "macos": "macos-x86_64", "windows": "windows-x86_64"}
    variants = {"cpu": "cpu", "gpu": "cuda"}
    ours = {f"{r.version} {r.platform} {r.variant}": r for r in facts.rows(schema.Tested)}
    seen = 0
    for theirs in gathered("tensorflow-toolchains"):
        key = (theirs["tf_version"], systems[theirs["platform"]], variants[theirs["variant"]])
        row = ours.get(" ".join(key))
        if row is None:
            continue
        seen += 1
        assert row.build_tool_version == theirs["build_tool_version"] or (
            theirs["build_tool_version"] in row.note
        ), row
        assert row.compiler_version == theirs["compiler_version"] or (
            theirs["compiler_version"] in row.note
        ), row
        assert Version(row.cuda or "0") == Version(theirs["cuda"] or "0"), row
        assert row.cudnn == theirs["cudnn"], row
    assert seen >= len(ours)


def test_gathered_archives_have_the_hashes_that_were_gathered() -> None:
    theirs = {
        row["url"].replace("http://", "https://", 1): row["sha256"]
        for name in ("bazel-releases", "bazelisk-releases", "cuda-toolkits", "cudnn", "cpython")
        for row in gathered(name)
    }
    kinds = (
        schema.BazelFile,
        schema.BazeliskFile,
        schema.CudaToolkit,
        schema.CudnnArchive,
        schema.CPython,
    )
    for kind in kinds:
        for row in facts.rows(kind):
            if row.url:  # type: ignore[attr-defined]
                assert theirs[row.url] == row.sha256, row  # type: ignore[attr-defined]


def test_every_release_is_built_by_a_bazel_inside_the_gathered_bounds() -> None:
    """By the toolchain that is really chosen; a release that CMake builds has none."""
    seen = 0
    for theirs in gathered("bazel-bounds"):
        version = theirs["tf_version"]
        if not in_scope(version):
            continue
        bazel = Version(toolchain.choose(Target(version, "cpu")).get("bazel"))
        low, high = theirs["tf_min_bazel"], theirs["tf_max_bazel"]
        assert not low or bazel >= Version(low), version
        assert not high or bazel <= Version(high), version
        if theirs["bazelversion_file"]:
            assert str(bazel) == theirs["bazelversion_file"], version
        seen += 1
    assert seen == len(facts.rows(schema.BazelBound))


def test_every_release_takes_the_cuda_of_its_wheel_or_says_why_not() -> None:
    seen = 0
    for theirs in gathered("wheel-build-info"):
        platform = PLATFORMS[theirs["platform"]]
        if theirs["is_cuda_build"] != "True" or not in_scope(theirs["version"]):
            continue
        target = Target(theirs["version"], "cuda", platform)  # type: ignore[arg-type]
        released = ".".join(theirs["cuda_version"].split(".")[:2])
        if target.name not in catalogue() or "." not in released:
            continue  # before 2.3 the wheels do not say, on Windows some name only a DLL
        seen += 1
        chosen = toolchain.choose(target).values["cuda"]
        if not chosen.value.startswith(f"{released}."):
            assert chosen.rule == "preferred", (target.name, chosen)
            assert released in {refused.value for refused in chosen.rejected}, target.name
    assert seen >= 60


def test_every_gathered_wheel_stands_in_the_table() -> None:
    ours = {(r.distribution, r.version, r.platform): r for r in facts.rows(schema.Wheel)}
    seen = 0
    for theirs in gathered("python-requirements"):
        platform = PLATFORMS.get(theirs["platform"])
        if theirs["package"] not in DISTRIBUTIONS or platform is None:
            continue
        if not in_scope(theirs["version"]) or not theirs["python_tag"].startswith("cp3"):
            continue
        if theirs["python_tag"] in ("cp33", "cp34"):
            continue
        python = f"3.{theirs['python_tag'][3:]}"
        row = ours[theirs["package"], theirs["version"], platform]  # type: ignore[index]
        assert python in row.pythons, row
        assert row.stub == (int(theirs["size_bytes"]) < 100_000), row
        seen += 1
    assert seen >= 1500


def test_gathered_sources_have_the_hashes_that_were_gathered() -> None:
    theirs: dict[str, set[str]] = {}
    for row in gathered("tensorflow-sources"):
        theirs.setdefault(row["url"].replace("http://", "https://", 1), set()).add(row["sha256"])
    rows = facts.rows(schema.Source)
    assert len(rows) >= 90
    for source in rows:
        assert source.sha256 in theirs[source.url], source
