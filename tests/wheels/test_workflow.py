"""The reader of record files knows their checksums."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from tests.wheels.suite_parts import library


def record(data: bytes) -> bytes:
    records = library("records")
    head = struct.pack("<Q", len(data))
    crc = struct.pack("<I", records.masked(head))
    return head + crc + data + struct.pack("<I", records.masked(data))


def test_crc32c_of_the_standard() -> None:
    records = library("records")
    # RFC 3720, appendix B.4, and the check value of the CRC catalogues.
    assert records.crc32c(b"\0" * 32) == 0x8A9136AA
    assert records.crc32c(b"\xff" * 32) == 0x62A8AB43
    assert records.crc32c(b"123456789") == 0xE3069283


def test_records_are_read_back(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(record(b"") + record(b"text"))
    assert library("records").read(str(path)) == [b"", b"text"]


@pytest.mark.parametrize("at", [0, 9, 12, 17])
def test_a_flipped_bit_is_seen(tmp_path: Path, at: int) -> None:
    text = bytearray(record(b"some text"))
    text[at] ^= 1
    path = tmp_path / "x"
    path.write_bytes(bytes(text))
    with pytest.raises((library("checks").Wrong, struct.error)):
        library("records").read(str(path))
