"""Counting, telling what was not exercised, reading, comparing."""

from __future__ import annotations

import io
from pathlib import Path

import msgspec
import pytest
from rich.console import Console

from tfenv.errors import EnvironmentFailedError, FileFormatError, NotHereError
from tfenv.report import table
from tfenv.target import Target
from tfenv.verify import compare, drive, result, stage
from tfenv.verify.result import Check, Report, Status


def check(name: str, status: Status, detail: str = "") -> Check:
    return Check(id=name, suite=name.split(".", maxsplit=1)[0], status=status, detail=detail)


def report(*checks: Check) -> Report:
    return Report(
        target="2.6.5-cpu",
        wheel="tensorflow_cpu-2.6.5.whl (released)",
        environment={},
        summary=result.summarise(checks),
        not_exercised=result.not_exercised(checks, ["device", "xla"], ["device"]),
        checks=list(checks),
    )


def test_a_skip_is_no_pass() -> None:
    found = report(check("device.a", "skipped", "no GPU"), check("device.b", "known", "bug"))
    assert found.summary == result.Summary(0, 0, 1, 1)
    assert not found.right
    assert report(check("device.a", "passed")).right
    assert not report(check("device.a", "passed"), check("device.b", "failed")).right


def test_the_first_line_says_what_was_not_exercised() -> None:
    found = report(
        check("device.gpu", "skipped", "no driver"),
        check("device.mem[a]", "skipped", "no driver"),
        check("device.mem[b]", "skipped", "no driver"),
    )
    assert "suite xla (not asked for)" in found.headline()
    assert "device.gpu, device.mem: no driver" in found.headline()
    assert "tensorflow_cpu-2.6.5.whl" in found.headline()


def test_what_the_profile_leaves_out_is_said() -> None:
    lines = result.not_exercised([], ["xla"], ["xla"], ["xla-size", "xla-more"])
    assert lines == ["xla-size, xla-more (only with --profile full)"]


def test_a_report_can_be_read_back(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    path.write_bytes(msgspec.json.encode(report(check("device.a", "passed", "ü"))))
    assert result.read(path) == report(check("device.a", "passed", "ü"))


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"schema": 1}', "\x00"])
def test_what_is_no_report_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "report.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(FileFormatError):
        result.read(path)


def test_another_schema_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    path.write_bytes(msgspec.json.encode(msgspec.structs.replace(report(), schema=99)))
    with pytest.raises(FileFormatError, match="99"):
        result.read(path)


def test_comparing() -> None:
    before = report(check("a.x", "passed"), check("a.y", "failed"), check("a.z", "passed"))
    after = report(check("a.x", "failed", "why"), check("a.y", "passed"), check("a.z", "passed"))
    found = compare.compare(before, after)
    changed = [(c.id, c.before, c.after, c.worse) for c in found.changes]
    assert changed == [("a.x", "passed", "failed", True), ("a.y", "failed", "passed", False)]
    assert found.same == 1
    assert not found.right


def test_a_check_that_is_gone_is_worse() -> None:
    found = compare.compare(report(check("a.x", "passed")), report(check("a.y", "skipped")))
    assert [(c.id, c.worse) for c in found.changes] == [("a.x", True), ("a.y", False)]


def test_committed_reports_are_compared() -> None:
    """Two releases of one minor share checks, and what differs between them is told in words."""
    evidence = Path(__file__).parents[2] / "docs" / "evidence"
    before, after = (result.read(evidence / f"{v}-cpu.json") for v in ("2.6.5", "2.21.0"))
    found = compare.compare(before, after)
    assert found.same > 1000
    assert all(change.detail for change in found.changes if change.after == "known")
    stream = io.StringIO()
    table.show_comparison(Console(file=stream, width=200, color_system=None), found)
    lines = stream.getvalue().splitlines()
    assert len(lines) == len(found.changes) + 2
    worse = sum(change.worse for change in found.changes)
    assert lines[-1].endswith(f"checks ended differently, {worse} of them worse")
    first = {line.split("  ")[1] for line in lines[1 : worse + 1]}
    assert first == {change.id for change in found.changes if change.worse}


# As ldd's complaint reads in tensorflow-gpu 1.13.2 on a machine without CUDA 10.0.
NO_CUBLAS = (
    "ImportError: libcublas.so.10.0: cannot open shared object file: No such file or directory"
)


def test_cuda_that_is_not_there_is_the_environment() -> None:
    checks = [check("device.import", "failed", NO_CUBLAS)]
    with pytest.raises(EnvironmentFailedError, match=r"1\.13\.2-cuda") as caught:
        stage.require_cuda_libraries(Target("1.13.2", "cuda"), checks)
    assert caught.value.exit_code == 7
    assert "libcublas.so.10.0" in caught.value.why


@pytest.mark.parametrize(
    ("variant", "detail"),
    [
        ("cpu", NO_CUBLAS),  # a CPU wheel has no business with it
        ("cuda", NO_CUBLAS.replace("libcublas.so.10.0", "libtensorflow_framework.so.2")),
    ],
)
def test_a_library_of_the_wheel_is_the_wheel(variant: str, detail: str) -> None:
    target = Target("1.13.2", "cuda" if variant == "cuda" else "cpu")
    stage.require_cuda_libraries(target, [check("device.import", "failed", detail)])


@pytest.mark.parametrize(
    ("target", "system", "machine", "here"),
    [
        (Target("2.6.5", "cpu"), "linux", "x86_64", True),
        (Target("2.6.5", "cpu"), "darwin", "x86_64", False),
        (Target("2.6.5", "cpu"), "linux", "aarch64", False),
        (Target("2.10.1", "cuda", "windows-x86_64"), "linux", "x86_64", False),
        (Target("2.10.1", "cuda", "windows-x86_64"), "win32", "AMD64", True),
        (Target("2.6.0", "cpu", "macos-x86_64"), "darwin", "arm64", True),
    ],
)
def test_where_a_target_can_be_verified(
    target: Target, system: str, machine: str, here: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tfenv.verify.stage.sys.platform", system)
    monkeypatch.setattr("tfenv.verify.stage.platform.machine", lambda: machine)
    if here:
        stage.require_system(target)
        return
    with pytest.raises(NotHereError) as caught:
        stage.require_system(target)
    assert caught.value.exit_code == 6


def test_only_complete_lines_are_read(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    assert drive.complete_lines(path, 0) == ([], 0)
    path.write_bytes(b'{"a": 1}\n{"b"')
    lines, position = drive.complete_lines(path, 0)
    assert (lines, position) == ([b'{"a": 1}'], 9)
    with path.open("ab") as stream:
        stream.write(b": 2}\n")
    assert drive.complete_lines(path, position) == ([b'{"b": 2}'], 18)
