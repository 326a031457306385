"""Windows and macOS libraries: what a new link changes is explained, everything else is named.

Behind each normaliser one changed machine instruction, one changed constant and one changed Python
line are hidden, as for the others in test_audit_normalisers.py.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.portable_maker import CODE, NOTICE, make_fat, make_mach, make_pe
from tests.wheel_maker import make_wheel
from tfenv.audit import normalise
from tfenv.audit.compare import audit
from tfenv.audit.model import Audit
from tfenv.wheel import blob, portable

Make = Callable[..., bytes]

OTHER_CODE = CODE.replace(b"\x07", b"\x08")
OTHER_NOTICE = NOTICE.replace(b"a c", b"b c")
# Normaliser: what makes the library, what the second link changes, what comes along.
PAIRS: dict[str, tuple[Make, dict[str, object], set[str]]] = {
    "pe-timestamp": (make_pe, {"time": 0x60000000, "checksum": 2}, set()),
    "uuid": (make_mach, {"uuid": b"v" * 16}, {"code-signature"}),
    "code-signature": (make_mach, {"uuid": b"v" * 16}, {"uuid"}),
}


def compared(
    tmp_path: Path, one: bytes, two: bytes, python: bytes = b"x = 1\n", **more: object
) -> Audit:
    wheels = [
        make_wheel(tmp_path / side, {"tensorflow/lib.pyd": data, "a.py": text})
        for side, data, text in (("a", one, b"x = 1\n"), ("b", two, python))
    ]
    return audit(wheels[0], wheels[1], **more)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", PAIRS)
def test_equivalent_after_this_normaliser(tmp_path: Path, name: str) -> None:
    make, change, others = PAIRS[name]
    result = compared(tmp_path, make(), make(**change))
    assert result.differences == []
    assert set(result.normalisers) == {name, "record"} | others
    without = [other for other in normalise.NAMES if other != name]
    refused = compared(tmp_path, make(), make(**change), names=without)
    assert refused.verdict == "different"
    assert {item.path for item in refused.differences} == {"tensorflow/lib.pyd"}


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize(
    ("hidden", "kind", "word"),
    [
        ({"code": OTHER_CODE}, "instruction", "text+0x3"),
        ({"notice": OTHER_NOTICE}, "constant", "b constant"),
        ({}, "python-line", "x = 2"),
    ],
)
def test_a_change_behind_this_normaliser_is_named(
    tmp_path: Path, name: str, hidden: dict[str, bytes], kind: str, word: str
) -> None:
    make, change, _ = PAIRS[name]
    python = b"x = 1\n" if hidden else b"x = 2\n"
    result = compared(tmp_path, make(), make(**change, **hidden), python)
    (found,) = result.differences
    assert (found.kind, word in found.detail) == (kind, True)
    assert name in result.normalisers


def test_the_identity_of_a_pdb_file(tmp_path: Path) -> None:
    result = compared(tmp_path, make_pe(), make_pe(guid=b"h" * 16))
    assert result.normalisers == ["record", "uuid"]
    assert "identity of the PDB file" in {e.normaliser: e.detail for e in result.explained}["uuid"]


@pytest.mark.parametrize("spoil", [{"identity": b"somebody"}, {"flags": 0}])
def test_a_signature_of_somebody_is_never_passed_over(
    tmp_path: Path, spoil: dict[str, object]
) -> None:
    one = make_mach(**spoil)  # type: ignore[arg-type]
    two = make_mach(uuid=b"v" * 16, **spoil)  # type: ignore[arg-type]
    result = compared(tmp_path, one, two)
    assert result.verdict == "different"
    assert {item.kind for item in result.differences} == {"symbol"}
    mixed = compared(tmp_path, make_mach(), one)
    assert mixed.verdict == "different"


def test_a_universal_file_is_compared_slice_by_slice(tmp_path: Path) -> None:
    arm = 0x0100000C
    one = make_fat(make_mach(), make_mach(cpu=arm))
    same = make_fat(make_mach(uuid=b"v" * 16), make_mach(cpu=arm, uuid=b"w" * 16))
    assert compared(tmp_path, one, same).differences == []
    other = make_fat(make_mach(), make_mach(cpu=arm, code=OTHER_CODE))
    (found,) = compared(tmp_path, one, other).differences
    assert (found.kind, "__text (arm64)" in found.detail) == ("instruction", True)


def test_a_mask_cannot_be_moved_over_code(tmp_path: Path) -> None:
    """A debug directory that points into the code would have it read as a time."""
    data = bytearray(make_pe(code=OTHER_CODE))
    struct.pack_into("<II", data, 0x98 + 112 + 8 * 6, 0x1000, 28)
    with blob.of_bytes(bytes(data)) as stream:
        (entry,) = [f for f in portable.parse_pe(stream).fields if "debug" in f.name]
    assert entry.offset == 0x404  # the code's fifth byte
    result = compared(tmp_path, make_pe(), bytes(data))
    assert "headers" in {item.kind for item in result.differences}


def test_other_tables_are_said(tmp_path: Path) -> None:
    two = bytearray(make_pe())
    struct.pack_into("<H", two, 0x84, 0xAA64)
    two[0x9A] = 15  # the linker
    kinds = {item.kind for item in compared(tmp_path, make_pe(), bytes(two)).differences}
    assert {"machine", "compiler", "headers"} <= kinds
    longer = make_mach() + b"appended"
    assert {i.kind for i in compared(tmp_path, make_mach(), longer).differences} == {"headers"}


def test_a_damaged_library_is_named(tmp_path: Path) -> None:
    broken = make_pe()[:0x90] + b"\xff" * 0x700
    (found,) = compared(tmp_path, make_pe(), broken).differences
    assert (found.kind, found.cause) == ("bytes", "a damaged library")
