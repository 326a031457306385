"""Throughput of the fetch stage beside curl, on loopback.

    python bench/fetch.py [MEGABYTES]

One large file: tfenv (download and sha256) against `curl` then `sha256sum`.
200 small files: tfenv against one curl after the other. Prints medians of three.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from tfenv.fetch.cache import Cache
from tfenv.fetch.item import Item
from tfenv.fetch.pool import fetch, require_all

SMALL = 200
ROUNDS = 3


def main() -> None:
    megabytes = int(sys.argv[1]) if len(sys.argv) > 1 else 1024
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        (root / "served").mkdir()
        large = _write(root / "served" / "large", megabytes << 20)
        small = [_write(root / "served" / f"small{n}", 10_000 + n) for n in range(SMALL)]
        # The server is a process of its own: it must not share the interpreter with the client.
        command = [sys.executable, "-c", _SERVER, str(root / "served")]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
            assert server.stdout is not None
            base = f"http://127.0.0.1:{server.stdout.readline().strip()}"
            try:
                _large(root, base, large, megabytes)
                _small(root, base, small)
            finally:
                server.kill()


_SERVER = """
import functools, http.server, sys
class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args): pass
handler = functools.partial(Quiet, directory=sys.argv[1])
# The default of 5 waiting connections drops the sixth, which then waits a second.
http.server.ThreadingHTTPServer.request_queue_size = 128
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
print(server.server_address[1], flush=True)
server.serve_forever()
"""


def _write(path: Path, size: int) -> tuple[str, str, int]:
    digest = hashlib.sha256()
    with path.open("wb") as stream:
        left = size
        while left:
            chunk = os.urandom(min(left, 1 << 20))
            digest.update(chunk)
            stream.write(chunk)
            left -= len(chunk)
    return path.name, digest.hexdigest(), size


def _large(root: Path, base: str, file: tuple[str, str, int], megabytes: int) -> None:
    def ours() -> None:
        _fetch(root, base, [file])

    def curl() -> None:
        out = root / "curl"
        subprocess.run(["curl", "-s", "-o", out, f"{base}/{file[0]}"], check=True)
        subprocess.run(["sha256sum", out], check=True, stdout=subprocess.DEVNULL)

    mine, theirs = _median(ours), _median(curl)
    print(f"one file of {megabytes} MiB: tfenv {mine:.2f} s, curl + sha256sum {theirs:.2f} s:")
    print(f"  {theirs / mine:.0%} of the peer's throughput (wanted: at least 80 %)")


def _small(root: Path, base: str, files: list[tuple[str, str, int]]) -> None:
    def ours() -> None:
        _fetch(root, base, files)

    def curl() -> None:
        for name, _, _ in files:
            subprocess.run(["curl", "-s", "-o", root / "curl", f"{base}/{name}"], check=True)

    mine, theirs = _median(ours), _median(curl)
    print(f"{SMALL} small files: tfenv {mine:.2f} s, curl one by one {theirs:.2f} s:")
    print(f"  {theirs / mine:.1f} times as fast (wanted: at least 3)")


def _fetch(root: Path, base: str, files: list[tuple[str, str, int]]) -> None:
    shutil.rmtree(root / "cache", ignore_errors=True)
    items = [Item(name=n, sha256=sha, size=size, urls=[f"{base}/{n}"]) for n, sha, size in files]
    require_all(fetch(items, Cache(root / "cache")))


def _median(run: Callable[[], None]) -> float:
    times = []
    for _ in range(ROUNDS):
        started = time.perf_counter()
        run()
        times.append(time.perf_counter() - started)
    return statistics.median(times)


if __name__ == "__main__":
    main()
