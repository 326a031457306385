"""`tfenv audit` on two real releases, nine days and one dependency apart."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.wheels.wheel_files import CPU_2_6_4, CPU_2_6_5, fetch
from tfenv.audit import normalise
from tfenv.audit.compare import audit
from tfenv.audit.declared import Change, Declaration
from tfenv.audit.model import Tally
from tfenv.audit.quick import quick

pytestmark = [pytest.mark.tf, pytest.mark.slow]

LIBRARIES = {
    "tensorflow/libtensorflow_framework.so.2",
    "tensorflow/lite/python/interpreter_wrapper/_pywrap_tensorflow_interpreter_wrapper.so",
    "tensorflow/lite/python/optimize/_pywrap_tensorflow_lite_calibration_wrapper.so",
    "tensorflow/python/_pywrap_tensorflow_internal.so",
    "tensorflow/python/client/_pywrap_tf_session.so",
}


VERSIONS = ("2.6.4", "2.6.5")


def test_the_declared_version_leaves_the_changed_dependency(tmp_path: Path) -> None:
    wheels = fetch(CPU_2_6_4, tmp_path), fetch(CPU_2_6_5, tmp_path)
    result = audit(*wheels, declaration=Declaration(version=VERSIONS))
    assert result.verdict == "different"
    assert result.normalisers == [
        "zip-order", "zip-mtime", "version", "git-version", "record", "build-id", "string-move",
    ]  # fmt: skip
    where = Counter(item.path for item in result.differences)
    assert set(where) == {
        "tensorflow_cpu-2.6.4.dist-info/METADATA",
        "tensorflow/tools/pip_package/setup.py",
    }
    (dependency,) = [d for d in result.differences if d.kind == "metadata"]
    assert "protobuf (>=3.9.2)' | 'Requires-Dist: protobuf (<3.20,>=3.9.2)" in dependency.detail
    explained = {e.path for e in result.explained}
    assert explained >= LIBRARIES
    moves = [e.path for e in result.explained if e.normaliser == "string-move"]
    assert len(moves) == 3
    assert set(moves) < LIBRARIES


def test_equivalent_once_all_that_was_meant_is_declared(tmp_path: Path) -> None:
    """Nine members and 197 bytes of libraries: every one explained or declared."""
    wheels = fetch(CPU_2_6_4, tmp_path), fetch(CPU_2_6_5, tmp_path)
    draft: list[Change] = []
    plain = audit(*wheels, draft=draft)
    assert "version" in {d.kind for d in plain.differences}
    assert plain.tally == Tally(
        members=7675,
        members_differing=9,
        libraries_differing=5,
        library_bytes=472_686_936,
        library_bytes_differing=197,
    )
    result = audit(*wheels, declaration=Declaration(version=VERSIONS, change=draft))
    assert result.verdict == "equivalent"
    assert len(result.declared) == 2
    for name in ("version", "build-id"):
        names = [other for other in normalise.NAMES if other != name]
        meant = Declaration(version=VERSIONS, change=draft)
        assert audit(*wheels, names, meant).verdict == "different"


def test_without_build_id_and_versions_the_libraries_differ(tmp_path: Path) -> None:
    names = ["zip-order", "zip-mtime", "record"]
    result = audit(fetch(CPU_2_6_4, tmp_path), fetch(CPU_2_6_5, tmp_path), names)
    kinds = {d.kind for d in result.differences if d.path in LIBRARIES}
    assert {d.path for d in result.differences} >= LIBRARIES
    assert kinds == {"constant", "instruction"}


def test_quick_finds_the_same_members_and_says_what_it_trusts(tmp_path: Path) -> None:
    result = quick(fetch(CPU_2_6_4, tmp_path), fetch(CPU_2_6_5, tmp_path))
    assert result.trusted == "RECORD"
    assert {d.path for d in result.differences} > LIBRARIES
    assert len(result.differences) == 8
