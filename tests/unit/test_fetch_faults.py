"""Downloads from servers that stall, cut, lie and redirect: right bytes or a clear failure."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.unit.fetch_server import (
    Answer,
    Server,
    cut,
    drip,
    endless,
    in_turn,
    item,
    ok,
    redirect,
    says_length,
    serving,
    stall,
    status,
    without_ranges,
)
from tfenv import files
from tfenv.errors import DownloadError, HashMismatchError
from tfenv.fetch.cache import Cache
from tfenv.fetch.download import Silent
from tfenv.fetch.item import Item, Outcome
from tfenv.fetch.pool import fetch, require_all
from tfenv.fetch.transport import Limits

DATA = random.Random(7).randbytes(100_000)
FAST = Limits(stall=0.15, least_rate=1000, rounds=2, pause=0.01, longest_pause=0.05)


class Notes(Silent):
    def __init__(self) -> None:
        self.notes: list[str] = []
        self.bytes = 0

    def note(self, text: str) -> None:
        self.notes.append(text)

    def advance(self, item: Item, count: int) -> None:
        self.bytes += count


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as running:
        yield running


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(tmp_path / "cache")


def one(wanted: Item, cache: Cache, hooks: Notes | None = None) -> Outcome:
    (outcome,) = fetch([wanted], cache, hooks=hooks, limits=FAST)
    return outcome


def assert_only_right_bytes(cache: Cache) -> None:
    for path in cache.root.glob("content_addressable/sha256/*/file"):
        assert files.sha256_file(path) == path.parent.name


def test_a_good_server(server: Server, cache: Cache) -> None:
    server.answers["/a"] = ok(DATA)
    notes = Notes()
    outcome = one(item(DATA, server.url("/a")), cache, notes)
    assert outcome.status == "downloaded"
    assert outcome.path is not None
    assert outcome.path.read_bytes() == DATA
    assert notes.bytes == len(DATA)
    assert one(item(DATA, server.url("/a")), cache).status == "cached"
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    ("bad", "problem"),
    [
        (status(404), "404"),
        (status(403), "403"),
        (status(429, Retry_After=1), "429"),
        (status(503), "503"),
        (status(500), "500"),
        (stall(DATA, 1000), "stalled"),
        (stall(DATA, 0), "stalled"),
        (drip(DATA, 0.05), "too slow"),
        (cut(DATA, 0), "cut short"),
        (says_length(DATA, len(DATA) + 5), "bytes instead of"),
        (says_length(DATA, len(DATA) - 5), "bytes instead of"),
        (says_length(DATA[:-5], len(DATA)), "cut short"),
        (without_ranges(DATA[:-1] + b"!"), "sha256"),
        (endless, "more bytes"),
        (redirect("file:///etc/hostname"), "redirect"),
        (redirect("ftp://127.0.0.1/a"), "redirect"),
        (redirect("http://127.0.0.2:1/a"), "redirect"),
        (status(200, Content_Encoding="gzip"), "compressed"),
        (status(204), "204"),
        (lambda handler: handler.begin(206, Content_Range="bytes 9-10/99"), "another part"),
        (lambda handler: handler.wfile.write(b"SSH-2.0-OpenSSH_9.2\r\n"), "SSH"),
    ],
)
def test_the_next_place_is_asked(server: Server, cache: Cache, bad: Answer, problem: str) -> None:
    server.answers["/bad"] = bad
    server.answers["/good"] = ok(DATA)
    outcome = one(item(DATA, server.url("/bad"), server.url("/good")), cache)
    assert outcome.status == "downloaded"
    assert outcome.url == server.url("/good")
    assert any(problem in attempt.problem for attempt in outcome.attempts), outcome.attempts
    assert_only_right_bytes(cache)


@pytest.mark.parametrize("bad", [status(404), stall(DATA, 9), without_ranges(b"no"), endless])
def test_no_place_has_it(server: Server, cache: Cache, bad: Answer) -> None:
    server.answers["/bad"] = bad
    outcomes = fetch([item(DATA, server.url("/bad"))], cache, limits=FAST)
    with pytest.raises(DownloadError, match="thing") as caught:
        require_all(outcomes)
    assert caught.value.exit_code == 4
    assert "127.0.0.1" in caught.value.why
    assert not list(cache.root.glob("content_addressable/sha256/*/file"))


def test_nobody_listens(server: Server, cache: Cache) -> None:
    outcome = one(item(DATA, "http://127.0.0.1:1/a"), cache)
    assert "refused" in outcome.attempts[0].problem


@pytest.mark.parametrize("url", ["file:///etc/hostname", "ftp://127.0.0.1/a", "data:,x", "/etc/x"])
def test_only_http_is_asked(cache: Cache, url: str) -> None:
    outcome = one(item(DATA, url), cache)
    assert outcome.status == "failed"
    assert "http" in outcome.attempts[0].problem


def test_a_wrong_hash_is_reported_and_never_asked_again(server: Server, cache: Cache) -> None:
    server.answers["/evil"] = without_ranges(DATA[::-1])
    server.answers["/good"] = in_turn(status(503), ok(DATA))
    notes = Notes()
    outcome = one(item(DATA, server.url("/evil"), server.url("/good")), cache, notes)
    assert outcome.status == "downloaded"
    assert server.paths().count("/evil") == 1
    assert hashlib.sha256(DATA[::-1]).hexdigest() in notes.notes[0]
    assert notes.bytes == len(DATA)


def test_a_wrong_hash_everywhere_is_its_own_error(server: Server, cache: Cache) -> None:
    server.answers["/evil"] = without_ranges(DATA[::-1])
    outcomes = fetch([item(DATA, server.url("/evil"))], cache, limits=FAST)
    with pytest.raises(HashMismatchError):
        require_all(outcomes)


def test_what_has_arrived_is_continued_there(server: Server, cache: Cache) -> None:
    server.answers["/a"] = in_turn(cut(DATA, 30_000), cut(DATA, 30_000), ok(DATA))
    outcome = one(item(DATA, server.url("/a")), cache)
    assert outcome.status == "downloaded"
    assert [wanted for _, wanted in server.asked] == ["", "bytes=30000-", "bytes=60000-"]


def test_what_has_arrived_is_continued_elsewhere(server: Server, cache: Cache) -> None:
    server.answers["/stalls"] = stall(DATA, 40_000)
    server.answers["/good"] = ok(DATA)
    one(item(DATA, server.url("/stalls"), server.url("/good")), cache)
    assert ("/good", "bytes=40000-") in server.asked


def test_a_server_without_ranges_sends_it_again(server: Server, cache: Cache) -> None:
    wanted = item(DATA, server.url("/a"))
    cache.partial(wanted.sha256).parent.mkdir(parents=True)
    cache.partial(wanted.sha256).write_bytes(DATA[:500])
    server.answers["/a"] = without_ranges(DATA)
    notes = Notes()
    assert one(wanted, cache, notes).status == "downloaded"
    assert notes.bytes == len(DATA)


@pytest.mark.parametrize("sized", [True, False])
@pytest.mark.parametrize("old", [b"rubbish", b"r" * 100_000, b"r" * 150_000])
def test_damage_in_what_had_arrived(server: Server, cache: Cache, old: bytes, sized: bool) -> None:
    wanted = item(DATA, server.url("/a"), size=sized)
    cache.partial(wanted.sha256).parent.mkdir(parents=True)
    cache.partial(wanted.sha256).write_bytes(old)
    server.answers["/a"] = ok(DATA)
    notes = Notes()
    assert one(wanted, cache, notes).status == "downloaded"
    assert notes.bytes == len(DATA)
    assert_only_right_bytes(cache)


def test_killed_between_the_last_byte_and_the_rename(server: Server, cache: Cache) -> None:
    wanted = item(DATA, server.url("/a"))
    cache.partial(wanted.sha256).parent.mkdir(parents=True)
    cache.partial(wanted.sha256).write_bytes(DATA)
    assert one(wanted, cache).status == "downloaded"
    assert server.asked == []


def test_a_damaged_cache_is_mended(server: Server, cache: Cache) -> None:
    wanted = item(DATA, server.url("/a"))
    server.answers["/a"] = ok(DATA)
    one(wanted, cache)
    cache.path(wanted.sha256).write_bytes(DATA[:-1] + b"!")
    assert one(wanted, cache).status == "downloaded"
    assert_only_right_bytes(cache)


def test_a_redirect_within_the_same_place(server: Server, cache: Cache) -> None:
    server.answers["/a"] = redirect("/b")
    server.answers["/b"] = ok(DATA)
    assert one(item(DATA, server.url("/a")), cache).status == "downloaded"


def test_redirects_in_a_circle(server: Server, cache: Cache) -> None:
    server.answers["/a"] = redirect("/a")
    assert one(item(DATA, server.url("/a")), cache).status == "failed"


def test_an_unknown_size(server: Server, cache: Cache) -> None:
    server.answers["/a"] = ok(DATA)
    assert one(item(DATA, server.url("/a"), size=False), cache).status == "downloaded"


def test_an_empty_file(server: Server, cache: Cache) -> None:
    server.answers["/a"] = ok(b"")
    assert one(item(b"", server.url("/a")), cache).status == "downloaded"


def test_all_are_tried_and_all_failures_named(server: Server, cache: Cache) -> None:
    server.answers["/a"] = ok(DATA)
    wanted = [
        item(b"1", server.url("/1"), name="first"),
        item(DATA, server.url("/a")),
        item(b"2", server.url("/2"), name="second"),
    ]
    outcomes = fetch(wanted, cache, limits=FAST)
    assert [outcome.status for outcome in outcomes] == ["failed", "downloaded", "failed"]
    with pytest.raises(DownloadError, match=r"first.*second"):
        require_all(outcomes)


def test_a_disk_too_small_is_said_before_the_start(server: Server, cache: Cache) -> None:
    huge = Item(name="huge", sha256="0" * 64, urls=[server.url("/a")], size=1 << 60)
    with pytest.raises(DownloadError, match="to be downloaded"):
        fetch([huge], cache, limits=FAST)
    assert server.asked == []
