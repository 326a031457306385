"""Preflight, from faked probe files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from tfenv import lock as locks
from tfenv import toolchain
from tfenv.build import preflight
from tfenv.build.probe import Probe, compiler_of, this_machine
from tfenv.errors import BuildError
from tfenv.lock.model import Lock
from tfenv.target import parse
from tfenv.toolchain.model import Choices

GOOD: dict[str, Any] = {
    "system": "linux",
    "cores": 8,
    "memory_mb": 64000,
    "disk_mb": 100000,
    "glibc": "2.27",
    "compiler": "GCC 7.5.0",
    "bazel": "3.7.2",
    "python": "3.7.16",
    "cpu_flags": ["sse4_1", "sse4_2", "ssse3", "popcnt", "avx", "avx2", "fma", "bmi1", "bmi2"],
    "open_files": 65536,
    "work_path": "/build",
}


def lock_of(name: str, march: str = "") -> Lock:
    return locks.make(toolchain.choose(parse(name), Choices(march=march)))


def findings(
    tmp_path: Path, name: str = "2.6.5-cpu", march: str = "", **changes: Any
) -> list[preflight.Finding]:
    """The findings of a probe that was written to a file and read again."""
    path = tmp_path / "probe.json"
    path.write_bytes(msgspec.json.encode({**GOOD, **changes}))
    probe = msgspec.json.decode(path.read_bytes(), type=Probe)
    return preflight.check(parse(name), lock_of(name, march), probe)


def errors(found: list[preflight.Finding]) -> list[str]:
    return [finding.code for finding in found if finding.severity == "error"]


def codes(found: list[preflight.Finding]) -> list[str]:
    return [finding.code for finding in found]


def test_a_good_machine(tmp_path: Path) -> None:
    assert codes(findings(tmp_path)) == ["glibc"]


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"memory_mb": 2000}, "memory"),
        ({"disk_mb": 0}, "disk"),
        ({"disk_mb": 900}, "disk"),
        ({"compiler": "GCC 13.2.0"}, "compiler"),
        ({"compiler": "Clang 17.0.6"}, "compiler"),
        ({"compiler": ""}, "compiler"),
        ({"bazel": "4.2.1"}, "bazel"),
        ({"bazel": "3.1.0"}, "bazel"),
        ({"work_path": "/home/some one/tf"}, "path-space"),
        ({"ca_file": "/absent.pem", "ca_exists": False}, "ca-file"),
    ],
)
def test_what_stops_a_build(tmp_path: Path, changes: dict[str, Any], code: str) -> None:
    found = findings(tmp_path, **changes)
    assert errors(found) == [code]
    with pytest.raises(BuildError, match=code) as caught:
        preflight.require(found)
    assert caught.value.exit_code == 5
    assert all(finding.otherwise and finding.fix for finding in found)


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"memory_mb": 10000}, "jobs"),
        ({"disk_mb": 15000}, "disk"),
        ({"bazel": "no_version"}, "bazel-version"),
        ({"open_files": 256}, "open-files"),
        ({"proxy": "proxy.example:3128"}, "proxy"),
    ],
)
def test_what_is_only_said(tmp_path: Path, changes: dict[str, Any], code: str) -> None:
    found = findings(tmp_path, **changes)
    assert code in codes(found)
    preflight.require(found)


def test_no_avx_with_march_native(tmp_path: Path) -> None:
    assert "march-avx" in codes(findings(tmp_path, march="native", cpu_flags=["sse4_2"]))
    assert "march-avx" not in codes(findings(tmp_path, march="native"))
    assert "march-avx" not in codes(findings(tmp_path, cpu_flags=["sse4_2"]))


def test_a_march_that_the_processor_lacks(tmp_path: Path) -> None:
    assert errors(findings(tmp_path, march="skylake-avx512")) == ["march"]
    assert errors(findings(tmp_path, march="sandybridge")) == []


def test_a_long_path_on_windows() -> None:
    probe = Probe(system="windows", disk_mb=10**6, work_path="C:\\" + "x" * 60)
    target = parse("2.10.1-cuda-windows")
    found = preflight.check(target, lock_of(target.name), probe, host=False)
    assert "path-length" in errors(found)


def test_a_containers_toolchain_is_not_judged_by_the_machine(tmp_path: Path) -> None:
    probe = msgspec.convert({**GOOD, "compiler": "GCC 13.2.0", "bazel": "9.0.0"}, Probe)
    assert preflight.check(parse("2.6.5-cpu"), lock_of("2.6.5-cpu"), probe, host=False) == []


def test_jobs_by_memory_and_cores() -> None:
    target = parse("2.6.5-cpu")
    assert [preflight.jobs(target, mb, 8) for mb in (64000, 8000, 1000, 0)] == [8, 4, 1, 1]
    assert preflight.jobs(parse("2.6.5-cuda"), 9000, 8) == 3


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ("g++ (Debian 12.2.0-14+deb12u1) 12.2.0\nCopyright", "GCC 12.2.0"),
        ("gcc (GCC) 7.3.1 20180303 (Red Hat 7.3.1-5)", "GCC 7.3.1"),
        ("Debian clang version 14.0.6\nTarget: x86_64", "Clang 14.0.6"),
        ("Apple clang version 15.0.0 (clang-1500.3.9.4)", "Clang 15.0.0"),
        ("command not found", ""),
    ],
)
def test_compilers_by_what_they_say(said: str, name: str) -> None:
    assert compiler_of(said) == name


def test_this_machine_is_looked_at(tmp_path: Path) -> None:
    probe = this_machine(tmp_path / "work")
    assert probe.cores > 0
    assert probe.disk_mb > 0
    assert probe.work_path == str(tmp_path / "work")


@pytest.mark.parametrize("name", ["1.15.5-cpu", "1.15.5-cuda", "2.6.5-cpu", "2.6.5-cuda"])
def test_a_figure_says_where_it_comes_from(tmp_path: Path, name: str) -> None:
    found = findings(tmp_path, name, memory_mb=2000, disk_mb=900, compiler="GCC 7.5.0", bazel=None)
    shown = {one.code: one.detail for one in found}
    assert "an estimate" in shown["disk"]
    assert "an estimate" in shown["memory"] or "issue 42066" in shown["memory"]


def test_little_memory_is_enough_where_others_compile() -> None:
    target = parse("2.6.5-cpu")
    small = msgspec.convert({**GOOD, "memory_mb": 2000}, Probe)
    assert errors(preflight.check(target, lock_of("2.6.5-cpu"), small)) == ["memory"]
    assert errors(preflight.check(target, lock_of("2.6.5-cpu"), small, remote=True)) == []
    assert preflight.jobs(target, 2000, 8) == 1
    assert preflight.jobs(target, 2000, 8, remote=True) == 50


def test_a_cuda_build_needs_a_toolkit(tmp_path: Path) -> None:
    assert "cuda" in errors(findings(tmp_path, "2.6.5-cuda"))
    assert "cuda" not in codes(findings(tmp_path, "2.6.5-cuda", nvcc="/usr/local/cuda/bin/nvcc"))
    assert "cuda" not in codes(findings(tmp_path, "2.6.5-cpu"))
    # Newer releases have Bazel fetch it; an image brings its own.
    assert "cuda" not in codes(findings(tmp_path, "2.21.0-cuda"))
    probe = msgspec.convert(GOOD, Probe)
    lock = lock_of("2.6.5-cuda")
    found = preflight.check(parse("2.6.5-cuda"), lock, probe, host=False, own_cuda=False)
    assert "cuda" not in codes(found)
