"""A loopback server that misbehaves on demand."""

from __future__ import annotations

import contextlib
import hashlib
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tfenv.fetch.item import Item

Answer = Callable[["Handler"], None]


class Handler(BaseHTTPRequestHandler):
    """Answers a GET as the test said."""

    protocol_version = "HTTP/1.1"
    server: Server

    def do_GET(self) -> None:
        self.server.asked.append((self.path, self.headers.get("Range", "")))
        answer = self.server.answers.get(self.path, status(404))
        self.close_connection = True
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            answer(self)

    def log_message(self, format: str, *args: Any) -> None:
        """Keep the test's output clean."""

    def begin(self, code: int = 200, **headers: object) -> None:
        self.send_response(code)
        for name, value in {"Connection": "close", **headers}.items():
            self.send_header(name.replace("_", "-"), str(value))
        self.end_headers()


class Server(ThreadingHTTPServer):
    """Listens on a free port of the loopback interface."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers: dict[str, Answer] = {}
        self.asked: list[tuple[str, str]] = []
        self.released = threading.Event()

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}{path}"

    def paths(self) -> list[str]:
        return [path for path, _ in self.asked]


@contextlib.contextmanager
def serving() -> Iterator[Server]:
    server = Server()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.released.set()
        server.shutdown()
        thread.join()
        server.server_close()


def item(data: bytes, *urls: str, size: bool = True, name: str = "thing") -> Item:
    return Item(
        name=name,
        sha256=hashlib.sha256(data).hexdigest(),
        urls=list(urls),
        size=len(data) if size else 0,
    )


def ok(data: bytes) -> Answer:
    """The file, ranges included."""

    def answer(handler: Handler) -> None:
        start = _start(handler)
        if start and start >= len(data):
            handler.begin(416, Content_Length=0, Content_Range=f"bytes */{len(data)}")
            return
        if start:
            said = f"bytes {start}-{len(data) - 1}/{len(data)}"
            handler.begin(206, Content_Length=len(data) - start, Content_Range=said)
        else:
            handler.begin(Content_Length=len(data))
        handler.wfile.write(data[start:])

    return answer


def without_ranges(data: bytes) -> Answer:
    """The whole file, whatever part was asked for."""

    def answer(handler: Handler) -> None:
        handler.begin(Content_Length=len(data))
        handler.wfile.write(data)

    return answer


def status(code: int, **headers: object) -> Answer:
    return lambda handler: handler.begin(code, Content_Length=0, **headers)


def redirect(location: str) -> Answer:
    return status(302, Location=location)


def cut(data: bytes, after: int) -> Answer:
    """Say the right length and close the connection early; ranges are honoured."""

    def answer(handler: Handler) -> None:
        start = _start(handler)
        code = 206 if start else 200
        said = f"bytes {start}-{len(data) - 1}/{len(data)}"
        handler.begin(code, Content_Length=len(data) - start, Content_Range=said)
        handler.wfile.write(data[start : start + after])

    return answer


def stall(data: bytes, after: int) -> Answer:
    """Send a little, then nothing until the test is over."""

    def answer(handler: Handler) -> None:
        handler.begin(Content_Length=len(data))
        handler.wfile.write(data[:after])
        handler.wfile.flush()
        handler.server.released.wait()

    return answer


def drip(data: bytes, seconds: float) -> Answer:
    """Send one byte every `seconds`."""

    def answer(handler: Handler) -> None:
        handler.begin(Content_Length=len(data))
        for byte in data:
            handler.wfile.write(bytes([byte]))
            handler.wfile.flush()
            if handler.server.released.wait(seconds):
                return

    return answer


def says_length(data: bytes, length: int) -> Answer:
    def answer(handler: Handler) -> None:
        handler.begin(Content_Length=length)
        handler.wfile.write(data)

    return answer


def endless(handler: Handler) -> None:
    """No length, and more bytes than anybody asked for."""
    handler.begin()
    while not handler.server.released.is_set():
        handler.wfile.write(b"x" * 65536)


def in_turn(*answers: Answer) -> Answer:
    """A different answer each time, then the last one for ever."""
    left = list(answers)

    def answer(handler: Handler) -> None:
        (left.pop(0) if len(left) > 1 else left[0])(handler)

    return answer


def _start(handler: Handler) -> int:
    wanted = handler.headers.get("Range", "")
    return int(wanted.removeprefix("bytes=").rstrip("-")) if wanted else 0
