"""The portable folder, and its use without a network."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.unit.fetch_server import item, ok, serving
from tfenv import files
from tfenv.errors import DownloadError, FileFormatError, UsageError
from tfenv.fetch import folder
from tfenv.fetch.cache import Cache
from tfenv.fetch.item import Item, Outcome, distinct, from_artifacts
from tfenv.fetch.pool import fetch
from tfenv.lock.model import Artifact

NOWHERE = "http://127.0.0.1:1/x"


@pytest.fixture
def fetched(tmp_path: Path) -> list[Outcome]:
    with serving() as server:
        server.answers = {"/a": ok(b"one"), "/b": ok(b"two")}
        items = [item(b"one", server.url("/a")), item(b"two", server.url("/b"))]
        return fetch(items, Cache(tmp_path / "first"))


def test_there_and_back(tmp_path: Path, fetched: list[Outcome]) -> None:
    manifest = folder.write(tmp_path / "usb", fetched, ["2.6.5-cpu"])
    assert json.loads(manifest.read_text())["targets"] == ["2.6.5-cpu"]
    items = [item(b"one", NOWHERE), item(b"two", NOWHERE), item(b"three", NOWHERE, name="third")]
    outcomes, missing = folder.read(tmp_path / "usb", items, Cache(tmp_path / "second"))
    assert [outcome.status for outcome in outcomes] == ["copied", "copied"]
    assert [one.name for one in missing] == ["third"]
    error = folder.offline(missing, tmp_path / "usb")
    assert error.exit_code == 4
    assert "third" in error.what


def test_two_writes_are_identical(tmp_path: Path, fetched: list[Outcome]) -> None:
    listed = []
    for name in ("x", "y"):
        folder.write(tmp_path / name, fetched, ["2.6.5-cpu"])
        paths = sorted(p for p in (tmp_path / name).rglob("*") if p.is_file())
        listed.append([(p.relative_to(tmp_path / name), p.read_bytes()) for p in paths])
    assert listed[0] == listed[1]
    assert len(listed[0]) == 3


def test_a_damaged_folder_is_not_believed(tmp_path: Path, fetched: list[Outcome]) -> None:
    folder.write(tmp_path / "usb", fetched, [])
    wanted = item(b"one", NOWHERE)
    Cache(tmp_path / "usb").path(wanted.sha256).write_bytes(b"0ne")
    cache = Cache(tmp_path / "second")
    outcomes, missing = folder.read(tmp_path / "usb", [wanted], cache)
    assert (outcomes, missing) == ([], [wanted])
    assert not cache.path(wanted.sha256).exists()


def test_a_folder_of_anything(tmp_path: Path) -> None:
    files.write_bytes(tmp_path / "downloads" / "deep" / "some name.whl", b"one")
    outcomes, missing = folder.read(
        tmp_path / "downloads", [item(b"one", NOWHERE)], Cache(tmp_path / "cache")
    )
    assert missing == []
    assert outcomes[0].path is not None
    assert outcomes[0].path.read_bytes() == b"one"


def test_no_folder(tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        folder.read(tmp_path / "absent", [], Cache(tmp_path))


def test_a_folder_that_cannot_be_written(tmp_path: Path, fetched: list[Outcome]) -> None:
    files.write_text(tmp_path / "usb", "a file")
    with pytest.raises(DownloadError, match="write"):
        folder.write(tmp_path / "usb", fetched, [])


def test_canonical_ids_are_marked(tmp_path: Path) -> None:
    with serving() as server:
        server.answers = {"/a": ok(b"one")}
        base = item(b"one", server.url("/a"))
        marked = Item(name="x", sha256=base.sha256, urls=base.urls, canonical_id="some id")
        outcomes = fetch([marked], Cache(tmp_path / "cache"))
    folder.write(tmp_path / "usb", outcomes, [])
    digest = files.sha256_bytes(b"some id")
    for root in ("cache", "usb"):
        path = Cache(tmp_path / root).path(base.sha256).with_name(f"id-{digest}")
        assert path.read_bytes() == b""


def artifact(**changes: object) -> Artifact:
    fields = {"name": "n", "kind": "bazel", "version": "1", "urls": [NOWHERE], "source": "s"}
    return Artifact(**{**fields, **changes})  # type: ignore[arg-type]


def test_a_lock_is_split_by_what_can_be_verified() -> None:
    items, others = from_artifacts(
        [
            artifact(sha256="0" * 64, size=3),
            artifact(kind="image", digest="sha256:" + "0" * 64),
            artifact(kind="cuda", unpinned="only an md5 is known"),
        ]
    )
    assert [(one.size, one.kind) for one in items] == [(3, "bazel")]
    assert [one.kind for one in others] == ["image", "cuda"]


@pytest.mark.parametrize("bad", ["", "0" * 63, "G" * 64, "A" * 64, "../../../../etc/passwd"])
def test_a_hash_that_is_none(bad: str) -> None:
    with pytest.raises(FileFormatError):
        Item(name="x", sha256=bad, urls=[])


def test_the_same_file_under_two_names() -> None:
    one, two = item(b"x", "http://a/1"), item(b"x", "http://b/2", size=False)
    assert [both.urls for both in distinct([two, one])] == [["http://b/2", "http://a/1"]]
    assert distinct([two, one])[0].size == 1
