"""`tfenv audit` on two real releases, nine days and one dependency apart."""

from __future__ import annotations

import zipfile
from collections import Counter
from pathlib import Path

import pytest

from tests.wheel_maker import make_wheel
from tests.wheels.wheel_files import CPU_2_6_4, CPU_2_6_5, Released, fetch
from tfenv.audit import normalise
from tfenv.audit.compare import audit
from tfenv.audit.declared import Change, Declaration
from tfenv.audit.model import Tally
from tfenv.audit.quick import quick
from tfenv.wheel import blob, portable
from tfenv.wheel.library import format_of

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


LINKED = [
    (
        Released(
            "tensorflow-1.4.0-cp36-cp36m-win_amd64.whl",
            "1b1aa05701e75a2130e3f34ca51e5ac9ad105f40dd3f97970da7877601e3299f",
            "windows-x86_64",
        ),
        {"pe-timestamp"},
    ),
    (
        Released(
            "tensorflow-1.4.0-cp36-cp36m-macosx_10_11_x86_64.whl",
            "ff08e3f2bf81d229d5d2c2ab9b812ebf8ac30cff2738988cee410606590da097",
            "macos-x86_64",
        ),
        {"uuid"},
    ),
    (
        Released(
            "tensorflow-2.16.2-cp312-cp312-macosx_12_0_arm64.whl",
            "917366179b596d0dae13e194a26965229b09fef946e4a5892a47fa9b4f7e4ba1",
            "macos-arm64",
        ),
        {"uuid", "code-signature"},
    ),
]


@pytest.mark.parametrize(("wheel", "kinds"), LINKED, ids=lambda value: str(value)[:40])
def test_a_real_library_linked_anew(tmp_path: Path, wheel: Released, kinds: set[str]) -> None:
    """Change all that a link changes in a released library, then one byte of its code."""
    name, data = smallest_library(fetch(wheel, tmp_path))
    with blob.of_bytes(data) as stream:
        (part,) = portable.parse(format_of(data[:16]), stream)
    assert {field.kind for field in part.fields} == kinds
    other = bytearray(data)
    for field in part.fields:
        place = slice(field.offset + field.size - 4, field.offset + field.size)
        other[place] = bytes(byte ^ 0xFF for byte in other[place])
    one = make_wheel(tmp_path / "a", {name: data})
    linked = audit(one, make_wheel(tmp_path / "b", {name: bytes(other)}))
    assert linked.differences == []
    assert set(linked.normalisers) == {*kinds, "record"}
    code = next(place for place in part.sections if place.code and place.size)
    other[code.offset + code.size // 2] ^= 1
    (found,) = audit(one, make_wheel(tmp_path / "c", {name: bytes(other)})).differences
    assert (found.kind, found.path) == ("instruction", name)
    assert found.detail.startswith(f"{code.name}+{code.size // 2:#x}")


def smallest_library(path: Path) -> tuple[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        named = [i for i in archive.infolist() if i.filename.endswith((".pyd", ".so", ".dylib"))]
        item = min(named, key=lambda item: item.file_size)
        return f"tensorflow/{Path(item.filename).name}", archive.read(item)
