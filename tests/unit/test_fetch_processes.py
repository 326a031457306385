"""Several processes, killed processes, full disks."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import ssl
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from tests.unit.fetch_server import Handler, Server, item, ok, redirect, serving
from tfenv import files
from tfenv.fetch.cache import Cache
from tfenv.fetch.item import Item
from tfenv.fetch.pool import fetch
from tfenv.fetch.transport import Limits

DATA = random.Random(11).randbytes(3_000_000)
FAST = Limits(stall=5, rounds=1, pause=0.01)
FETCH = """
import json, sys
from pathlib import Path
import msgspec
from tfenv.errors import TfenvError
from tfenv.fetch.cache import Cache
from tfenv.fetch.item import Item
from tfenv.fetch.pool import fetch, require_all
from tfenv.fetch.transport import Limits
items = msgspec.json.decode(sys.argv[2], type=list[Item])
try:
    outcomes = fetch(items, Cache(Path(sys.argv[1])), limits=Limits(rounds=1))
    require_all(outcomes)
except TfenvError as error:
    print(json.dumps(error.as_dict()))
    sys.exit(error.exit_code)
print(json.dumps([outcome.status for outcome in outcomes]))
"""


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as running:
        yield running


def command(cache: Path, *items: Item) -> list[str]:
    return [sys.executable, "-c", FETCH, str(cache), msgspec.json.encode(items).decode()]


def start(cache: Path, *items: Item) -> subprocess.Popen[str]:
    return subprocess.Popen(
        command(cache, *items), stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2]
    )


def wrong_files(cache: Path) -> list[Path]:
    found = cache.glob("content_addressable/sha256/*/file")
    return [path for path in found if files.sha256_file(path) != path.parent.name]


def test_two_processes_share_the_work(server: Server, tmp_path: Path) -> None:
    server.answers = {f"/{n}": ok(DATA[n:]) for n in range(6)}
    items = [item(DATA[n:], server.url(f"/{n}")) for n in range(6)]
    with start(tmp_path, *items) as one, start(tmp_path, *items) as other:
        answers = [json.loads(process.communicate()[0]) for process in (one, other)]
    assert sorted(server.paths()) == sorted(server.answers)
    assert [sorted(pair) for pair in zip(*answers, strict=True)] == [["cached", "downloaded"]] * 6


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL on Windows")
def test_killed_at_any_moment(server: Server, tmp_path: Path) -> None:
    """The server kills the process itself, after a random number of bytes of a random file."""
    dice = random.Random(5)
    items = [item(DATA[n:], server.url(f"/{n}")) for n in range(4)]
    for _ in range(6):
        process: list[subprocess.Popen[str]] = []
        limit = dice.randrange(2_500_000)

        def killing(
            handler: Handler, limit: int = limit, process: list[subprocess.Popen[str]] = process
        ) -> None:
            sent = DATA[int(handler.path[1:]) :]
            begin = int(handler.headers.get("Range", "bytes=0-")[6:-1])
            said = f"bytes {begin}-{len(sent) - 1}/{len(sent)}"
            handler.begin(
                206 if begin else 200, Content_Length=len(sent) - begin, Content_Range=said
            )
            handler.wfile.write(sent[begin : begin + limit])
            handler.wfile.flush()
            os.kill(process[0].pid, signal.SIGKILL)

        server.answers = {f"/{n}": killing for n in range(4)}
        with start(tmp_path, *items) as running:
            process.append(running)
            running.communicate()
        assert wrong_files(tmp_path) == []
    server.answers = {f"/{n}": ok(DATA[n:]) for n in range(4)}
    outcomes = fetch(items, Cache(tmp_path), limits=FAST)
    assert all(outcome.path for outcome in outcomes)
    assert wrong_files(tmp_path) == []


@pytest.mark.skipif(sys.platform == "win32", reason="SIGINT reaches a process otherwise there")
def test_interrupted_while_a_server_stalls(server: Server, tmp_path: Path) -> None:
    """Ctrl-C ends at once although the server would keep the connection for ever."""
    process: list[subprocess.Popen[str]] = []

    def stalling(handler: Handler) -> None:
        handler.begin(Content_Length=len(DATA))
        handler.wfile.write(DATA[:70_000])
        handler.wfile.flush()
        part = tmp_path / "partial" / item(DATA).sha256
        while not part.exists() or part.stat().st_size < 70_000:
            handler.server.released.wait(0.01)
        os.kill(process[0].pid, signal.SIGINT)
        handler.server.released.wait()

    server.answers["/a"] = stalling
    wanted = item(DATA, server.url("/a"))
    with start(tmp_path, wanted) as running:
        process.append(running)
        said = running.communicate(timeout=25)[0]
    assert running.returncode == 130
    assert json.loads(said)["kind"] == "interrupted"
    server.answers["/a"] = ok(DATA)
    (outcome,) = fetch([wanted], Cache(tmp_path), limits=FAST)
    assert outcome.status == "downloaded"
    assert server.asked[-1] == ("/a", "bytes=70000-")


@pytest.mark.skipif(
    not sys.platform.startswith("linux") or shutil.which("unshare") is None,
    reason="a small disk is made with unshare and tmpfs",
)
def test_a_full_disk(server: Server, tmp_path: Path) -> None:
    server.answers["/a"] = ok(DATA)
    server.answers["/b"] = ok(b"small")
    unsized = item(DATA, server.url("/a"), size=False)
    script = 'mount -t tmpfs -o size=1m tmpfs "$0" && "$@"; code=$?; ls -R "$0" >&2; exit $code'
    done = subprocess.run(
        ["unshare", "-rm", "sh", "-c", script, str(tmp_path), *command(tmp_path, unsized)],
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).parents[2],
    )
    if "unshare" in done.stderr or "mount" in done.stderr:
        pytest.skip(f"no small disk can be made here: {done.stderr.strip()}")
    assert done.returncode == 4, done.stderr
    assert "full" in json.loads(done.stdout)["why"]
    assert "file\n" not in done.stderr


def test_a_redirect_from_https_to_http(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    if shutil.which("openssl") is None:
        pytest.skip("needs openssl to make a certificate")
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"),
            *("-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"),
            *("-keyout", str(key), "-out", str(certificate)),
        ],
        check=True,
        capture_output=True,
    )
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    with serving() as secure:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        secure.socket = context.wrap_socket(secure.socket, server_side=True)
        server.answers["/a"] = ok(DATA)
        secure.answers["/good"] = ok(DATA)
        secure.answers["/down"] = redirect(server.url("/a"))
        base = secure.url("").replace("http:", "https:")
        down = item(DATA, base + "/down", base + "/good")
        (outcome,) = fetch([down], Cache(tmp_path / "cache"), limits=FAST)
    assert outcome.url == base + "/good"
    assert "redirect" in outcome.attempts[0].problem
    assert server.asked == []
