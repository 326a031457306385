"""The zip reader takes what wheels are and refuses what could harm."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.wheel_maker import make_wheel
from tfenv.errors import BadWheelError
from tfenv.wheel import archive
from tfenv.wheel.archive import ZipTree
from tfenv.wheel.entry import read_small
from tfenv.wheel.folder import FolderTree


def read_all(path: Path) -> dict[str, bytes]:
    tree = ZipTree(path)
    try:
        return {entry.path: b"".join(chunks) for entry, chunks in tree.stream(lambda _: True)}
    finally:
        tree.close()


def write_zip(path: Path, items: list[tuple[zipfile.ZipInfo, bytes]]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for item, data in items:
            archive.writestr(item, data)
    return path


def named(name: str, *, attributes: int = 0) -> zipfile.ZipInfo:
    item = zipfile.ZipInfo("placeholder")
    item.filename = name
    item.external_attr = attributes
    return item


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_reads_every_member_as_zipfile_does(tmp_path: Path, method: int) -> None:
    members = {"a/b.py": b"x = 1\n" * 500_000, "a/empty": b"", "é.txt": bytes(range(256))}
    path = make_wheel(tmp_path, members, method=method)
    with zipfile.ZipFile(path) as packed:
        expected = {name: packed.read(name) for name in packed.namelist()}
    assert read_all(path) == expected


def test_order_time_and_mode_are_the_archives_own(tmp_path: Path) -> None:
    path = make_wheel(tmp_path, {"a": b"1", "b": b"2"}, reverse=True, mode=0o775)
    tree = ZipTree(path)
    entry = tree.entries["a"]
    tree.close()
    assert (entry.mode, entry.mtime) == (0o775, "2022-05-13 10:00:00")
    assert entry.index > 0


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("../evil.py", "'..' part"),
        ("a/../../evil.py", "'..' part"),
        ("/etc/passwd", "absolute"),
        ("C:/evil.py", "absolute"),
        ("a\\..\\evil.py", "backslashes"),
        ("a//b", "empty"),
        ("a/./b", "'.'"),
        ("a\nb", "control characters"),
        ("x" * 2000, "characters"),
    ],
)
def test_refuses_names_that_leave_the_folder(tmp_path: Path, name: str, reason: str) -> None:
    path = write_zip(tmp_path / "w.whl", [(named(name), b"x")])
    with pytest.raises(BadWheelError) as caught:
        ZipTree(path)
    assert reason in caught.value.why


@pytest.mark.parametrize(("mode", "reason"), [(0o120777, "symbolic link"), (0o020666, "device")])
def test_refuses_links_and_devices(tmp_path: Path, mode: int, reason: str) -> None:
    path = write_zip(tmp_path / "w.whl", [(named("a", attributes=mode << 16), b"/etc/passwd")])
    with pytest.raises(BadWheelError) as caught:
        ZipTree(path)
    assert reason in caught.value.why


def test_refuses_two_members_of_one_name(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="Duplicate"):
        path = write_zip(tmp_path / "w.whl", [(named("a"), b"good"), (named("a"), b"evil")])
    with pytest.raises(BadWheelError) as caught:
        ZipTree(path)
    assert "twice" in caught.value.why


def test_refuses_a_name_that_is_file_and_folder(tmp_path: Path) -> None:
    path = write_zip(tmp_path / "w.whl", [(named("a"), b"x"), (named("a/b"), b"y")])
    with pytest.raises(BadWheelError) as caught:
        ZipTree(path)
    assert "is a file and the folder" in caught.value.why


def test_refuses_a_bomb_before_inflating_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive, "BOMB_TOTAL", 1 << 20)
    path = tmp_path / "w.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as bomb:
        bomb.writestr("zeros", b"\0" * (2 << 20))
    with pytest.raises(BadWheelError) as caught:
        ZipTree(path)
    assert "bomb" in caught.value.why


def test_refuses_members_that_share_their_data(tmp_path: Path) -> None:
    path = make_wheel(tmp_path, {"a": b"x" * 100, "b": b"y" * 100})
    data = bytearray(path.read_bytes())
    second = data.rfind(b"PK\x01\x02", 0, data.rfind(b"b", 0, data.rfind(b"tensorflow")))
    directory = data.find(b"PK\x01\x02")
    struct.pack_into("<I", data, directory + 42, struct.unpack_from("<I", data, second + 42)[0])
    path.write_bytes(bytes(data))
    with pytest.raises(BadWheelError):
        read_all(path)


def patched(path: Path, offset: int, form: str, value: int, *, local: bool = False) -> Path:
    """Change one number in the first central (or local) header."""
    data = bytearray(path.read_bytes())
    start = data.find(b"PK\x03\x04" if local else b"PK\x01\x02")
    struct.pack_into(form, data, start + offset, value)
    path.write_bytes(bytes(data))
    return path


@pytest.mark.parametrize(
    ("offset", "form", "value", "reason"),
    [
        (24, "<I", 5, "larger than the archive says"),
        (24, "<I", 5000, "smaller than the archive says"),
        (16, "<I", 12345, "does not match its CRC"),
        (8, "<H", 1, "encrypted"),
        (10, "<H", 12, "method 12"),
        (34, "<H", 3, "contradict"),
        (42, "<I", 0x7FFFFFF0, "outside the archive"),
    ],
)
def test_refuses_lying_headers(
    tmp_path: Path, offset: int, form: str, value: int, reason: str
) -> None:
    path = patched(make_wheel(tmp_path, {"a": b"x" * 1000}), offset, form, value)
    with pytest.raises(BadWheelError) as caught:
        read_all(path)
    assert reason in caught.value.why


def test_refuses_a_local_header_of_another_name(tmp_path: Path) -> None:
    path = patched(make_wheel(tmp_path, {"a": b"x"}), 30, "<B", ord("z"), local=True)
    with pytest.raises(BadWheelError) as caught:
        read_all(path)
    assert "another name" in caught.value.why


def test_refuses_every_truncation(tmp_path: Path) -> None:
    path = make_wheel(tmp_path, {"a.py": b"x = 1\n" * 50})
    data = path.read_bytes()
    short = tmp_path / "short.whl"
    for length in range(0, len(data), 7):
        short.write_bytes(data[:length])
        with pytest.raises(BadWheelError):
            read_all(short)


def test_refuses_data_before_and_after_the_archive(tmp_path: Path) -> None:
    data = make_wheel(tmp_path, {"a": b"x"}).read_bytes()
    for changed in (b"#!/bin/sh\n" + data, data + b"tail"):
        path = tmp_path / "changed.whl"
        path.write_bytes(changed)
        with pytest.raises(BadWheelError):
            read_all(path)


def test_reads_zip64(tmp_path: Path) -> None:
    path = tmp_path / "w.whl"
    with (
        zipfile.ZipFile(path, "w") as archive,
        archive.open(zipfile.ZipInfo("big"), "w", force_zip64=True) as member,
    ):
        member.write(b"abc")
    data = bytearray(path.read_bytes())
    at = data.find(b"PK\x01\x02")
    extra = struct.pack("<HHQ", 1, 8, 3)
    struct.pack_into("<I", data, at + 24, 0xFFFFFFFF)
    struct.pack_into("<H", data, at + 30, len(extra))
    end = data.find(b"PK\x05\x06")
    data[end:end] = extra
    struct.pack_into("<I", data, end + len(extra) + 12, end + len(extra) - at)
    path.write_bytes(bytes(data))
    assert read_all(path) == {"big": b"abc"}


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 10_000), st.binary(min_size=1, max_size=6))
def test_damaged_archives_never_crash(position: int, noise: bytes) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.py", b"x = 1\n" * 40)
        archive.writestr("b.bin", zlib.compress(b"y" * 90))
    data = bytearray(buffer.getvalue())
    position %= len(data)
    data[position : position + len(noise)] = noise
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "w.whl"
        path.write_bytes(bytes(data))
        try:
            content = read_all(path)
        except BadWheelError:
            return
        assert sum(len(value) for value in content.values()) < 10_000


def test_a_large_small_member_is_refused(tmp_path: Path) -> None:
    tree = ZipTree(make_wheel(tmp_path, {"a": b"x" * 100}))
    with pytest.raises(BadWheelError):
        read_small(tree, "a", limit=99)
    assert read_small(tree, "a", limit=100) == b"x" * 100
    tree.close()


def test_a_folder_lists_links_and_does_not_follow_them(tmp_path: Path) -> None:
    root = tmp_path / "tree"
    (root / "sub").mkdir(parents=True)
    (root / "sub/file").write_bytes(b"data")
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "key").write_bytes(b"do not read")
    try:
        (root / "link").symlink_to(secret)
    except OSError:
        pytest.skip("this system lets nobody make links")
    tree = FolderTree(root)
    content = {entry.path: b"".join(chunks) for entry, chunks in tree.stream(lambda _: True)}
    assert content == {"sub/file": b"data", "link": str(secret).encode()}
