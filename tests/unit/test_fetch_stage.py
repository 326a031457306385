"""Where the fetch stage looks, and in which order."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.fetch_server import item, ok, serving
from tfenv.errors import DownloadError, FileFormatError, UsageError
from tfenv.facts.pinned import parse
from tfenv.fetch import stage, wheels
from tfenv.fetch.cache import Cache
from tfenv.fetch.item import Item
from tfenv.fetch.mirrors import place_of, with_mirrors
from tfenv.lock.model import Lock, PythonLock

SHA = "0" * 64
BAZEL = "https://github.com/bazelbuild/bazel/releases/download/3.7.2/bazel-3.7.2-linux-x86_64"
SOURCE = "https://github.com/tensorflow/tensorflow/archive/v2.6.5.tar.gz"


def bazel() -> Item:
    return Item(name="bazel", kind="bazel", version="3.7.2", sha256=SHA, urls=[BAZEL])


def test_known_copies_are_asked_last() -> None:
    (got,) = with_mirrors([bazel()])
    assert got.urls[0] == BAZEL
    assert "https://mirrors.huaweicloud.com/bazel/3.7.2/bazel-3.7.2-linux-x86_64" in got.urls[1:]


def test_a_named_mirror_is_asked_first() -> None:
    (got,) = with_mirrors([bazel()], "huawei")
    assert got.urls[0] == "https://mirrors.huaweicloud.com/bazel/3.7.2/bazel-3.7.2-linux-x86_64"
    assert got.urls[1] == BAZEL


def test_a_mirror_of_ones_own_keeps_host_and_path() -> None:
    one = Item(name="eigen", kind="bazel-external", sha256=SHA, urls=[SOURCE])
    (got,) = with_mirrors([one], "tensorflow-externals=https://mirror.example/tf")
    assert got.urls[0] == (
        "https://mirror.example/tf/github.com/tensorflow/tensorflow/archive/v2.6.5.tar.gz"
    )


def test_externals_know_their_public_copy() -> None:
    one = Item(name="eigen", kind="bazel-external", sha256=SHA, urls=[SOURCE])
    (got,) = with_mirrors([one])
    assert any("storage.googleapis.com/mirror.tensorflow.org/github.com" in u for u in got.urls)
    assert with_mirrors([got]) == [got]


def test_an_unknown_mirror_names_the_known_ones() -> None:
    with pytest.raises(UsageError) as caught:
        with_mirrors([bazel()], "nowhere")
    assert "tsinghua" in caught.value.why


def test_a_mirror_by_its_alias() -> None:
    assert place_of("pip", "tuna") == place_of("pip", "tsinghua") != ""
    assert place_of("pip", "") == ""
    assert place_of("pip", "pip=https://mirror.example/simple") == "https://mirror.example/simple"


def test_offline_names_what_is_missing(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "cache")
    with serving() as server:
        server.answers["/a"] = ok(b"one")
        had = item(b"one", server.url("/a"))
        stage.fetch_items([had], stage.Source(), cache)
        lost = item(b"two", server.url("/b"), name="the-lost-archive")
        with pytest.raises(DownloadError, match="the-lost-archive") as caught:
            stage.fetch_items([had, lost], stage.Source(offline=True), cache)
        assert server.paths() == ["/a"]
    assert caught.value.exit_code == 4
    assert [o.status for o in stage.fetch_items([had], stage.Source(offline=True), cache)] == [
        "cached"
    ]


def test_a_tolerant_fetch_returns_failures(tmp_path: Path) -> None:
    lost = item(b"two", "http://127.0.0.1:1/x")
    got = stage.fetch_items([lost], stage.Source(offline=True), Cache(tmp_path), tolerant=True)
    assert [outcome.status for outcome in got] == ["failed"]


def test_python_files_carry_what_finds_them() -> None:
    text = f"# python: 3.7\n# platform: linux-x86_64\n# six-1.15.0-py2-none-any.whl 10\nsix==1.15.0 --hash=sha256:{SHA}\n"
    (got,) = wheels.items(parse(text, "x"))
    assert (got.name, got.version, got.size, got.python) == ("six", "1.15.0", 10, "3.7")
    assert got.file == "six-1.15.0-py2-none-any.whl"
    assert wheels.items(parse(text, "x"), only=["numpy"]) == []


def test_a_python_lock_that_was_changed(tmp_path: Path) -> None:
    lock = Lock(
        format=1,
        target="x",
        as_of="2022-01-01",
        toolchain={},
        python=PythonLock(file="no-such-file.txt", sha256=SHA),
    )
    with pytest.raises(FileFormatError):
        stage.python_items(lock)
