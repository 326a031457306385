"""One request: bytes of one URL into one file, with nothing believed that the server says.

Python's own HTTP client is used: it honours proxies (HTTPS_PROXY, NO_PROXY) and certificate
settings (SSL_CERT_FILE, SSL_CERT_DIR) of the system.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import http
import http.client
import os
import re
import socket
import ssl
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Protocol, cast

import msgspec

import tfenv
from tfenv.errors import DownloadError, one_line
from tfenv.fetch.cache import stopped

_CHUNK = 1 << 18
_MAX_UNKNOWN = 32 << 30  # bytes that a file of unknown length may have
_TRANSIENT = frozenset({408, 425, 429, 500, 502, 503, 504})
_CONTENT_RANGE = re.compile(r"bytes (\d{1,18})-\d{1,18}/(\d{1,18}|\*)", re.ASCII)


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """How patient to be. Times in seconds."""

    stall: float = 30.0  # without a connection or a byte
    least_rate: int = 1024  # bytes per second, averaged over one `stall`
    rounds: int = 3  # over all places of one file
    pause: float = 1.0  # before the second round; doubles
    longest_pause: float = 30.0  # even where the server asks for more


class Refused(Exception):
    """This place does not give the file.

    Attributes:
        problem: why, in a few words.
        transient: whether the same place may give it later.
        restart: whether it may give it whole, having refused to continue what had arrived.
        wait: seconds that the server asked to wait.
    """

    def __init__(
        self,
        problem: str,
        *,
        transient: bool = False,
        restart: bool = False,
        wait: float = 0.0,
    ) -> None:
        super().__init__(problem)
        self.problem = one_line(problem)
        self.transient = transient
        self.restart = restart
        self.wait = wait


class _Digest(Protocol):
    def update(self, data: bytes, /) -> None: ...
    def hexdigest(self) -> str: ...


class _Redirects(urllib.request.HTTPRedirectHandler):
    """Follow redirects to https, and to plain http only within the place that was asked."""

    max_redirections = 8

    def http_error_302(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: http.client.HTTPMessage,
    ) -> object:
        there = headers.get("location") or ""
        new = urllib.parse.urlsplit(urllib.parse.urljoin(req.full_url, there))
        old = urllib.parse.urlsplit(req.full_url)
        same = (new.scheme, new.netloc) == (old.scheme, old.netloc)
        if new.scheme != "https" and not (new.scheme == "http" and same):
            fp.close()
            raise Refused(f"a redirect to {new.scheme}://{new.netloc} was refused")
        return super().http_error_302(req, fp, code, msg, headers)

    http_error_301 = http_error_303 = http_error_307 = http_error_308 = http_error_302


def _opener() -> urllib.request.OpenerDirector:
    """An opener that knows http and https and nothing else (no file:, ftp: or data:)."""
    opener = urllib.request.OpenerDirector()
    for handler in (
        urllib.request.ProxyHandler(),
        urllib.request.HTTPHandler(),
        urllib.request.HTTPSHandler(context=ssl.create_default_context()),
        urllib.request.HTTPDefaultErrorHandler(),
        _Redirects(),
        urllib.request.HTTPErrorProcessor(),
        urllib.request.UnknownHandler(),
    ):
        opener.add_handler(handler)
    return opener


class Transport:
    """Makes requests; safe to share between threads."""

    def __init__(self, limits: Limits | None = None, stop: threading.Event | None = None) -> None:
        self.limits = limits or Limits()
        self.stop = stop or threading.Event()
        self._open = _opener().open
        self._answers: set[http.client.HTTPResponse] = set()

    def abort(self) -> None:
        """Stop: end every answer that is being read, so that no thread waits for a stalled one."""
        self.stop.set()
        for response in list(self._answers):
            with (
                contextlib.suppress(OSError, ValueError),
                socket.socket(fileno=os.dup(response.fileno())) as connection,
            ):
                connection.shutdown(socket.SHUT_RDWR)

    def complete(
        self, url: str, part: Path, size: int, advance: Callable[[int], None]
    ) -> tuple[str, bool]:
        """Complete `part` with the bytes of `url`, continuing behind those it already has.

        Args:
            url: where to ask.
            part: what has arrived so far, from this place or another; need not exist.
            size: bytes of the whole file; 0 where it is not known.
            advance: told the number of bytes as they arrive (negative: thrown away).

        Returns:
            The sha256 of the whole `part`, and whether all of it came from this answer.

        Raises:
            Refused: the place did not give the rest.
            DownloadError: the disk is full, or the cache cannot be written.
            StoppedError: `stop` was set.
        """
        if urllib.parse.urlsplit(url).scheme not in {"http", "https"}:
            raise Refused("only http and https are used")
        with _disk(part):
            part.parent.mkdir(parents=True, exist_ok=True)
            # Unbuffered: what has arrived is in the file when the process is killed.
            with part.open("ab", buffering=0) as out:
                have = out.tell()
                if size and have >= size:
                    _restart(out, have, advance)
                    have = 0
                with self._ask(url, have) as response:
                    return self._receive(response, part, out, size, advance)

    def _receive(
        self,
        response: http.client.HTTPResponse,
        part: Path,
        out: IO[bytes],
        size: int,
        advance: Callable[[int], None],
    ) -> tuple[str, bool]:
        have = out.tell()
        start, total = _extent(response, have)
        if size and total and total != size:
            raise Refused(f"has {total} bytes instead of {size}")
        if have and not start:
            _restart(out, have, advance)
        digest = _hash_of(part)
        got = self._copy(response, out, digest, (size or _MAX_UNKNOWN) - start, advance)
        if start + got < (size or total):
            raise Refused(f"cut short after {start + got} bytes", transient=True)
        return digest.hexdigest(), not start

    def _copy(
        self,
        response: http.client.HTTPResponse,
        out: IO[bytes],
        digest: _Digest,
        most: int,
        advance: Callable[[int], None],
    ) -> int:
        got = window = 0
        since = time.monotonic()
        while chunk := self._read(response):
            got += len(chunk)
            window += len(chunk)
            if got > most:
                raise Refused("sends more bytes than the file has")
            _write(out, chunk)
            digest.update(chunk)
            advance(len(chunk))
            seconds = time.monotonic() - since
            if seconds >= self.limits.stall:
                if window < self.limits.least_rate * seconds:
                    raise Refused(f"too slow: {window} bytes in {seconds:.0f} s", transient=True)
                window, since = 0, time.monotonic()
        return got

    def _read(self, response: http.client.HTTPResponse) -> bytes:
        try:
            chunk = response.read1(_CHUNK)
        except TimeoutError:
            raise Refused(f"stalled for {self.limits.stall:g} s", transient=True) from None
        except (http.client.HTTPException, OSError) as error:
            if self.stop.is_set():
                raise stopped() from error
            raise Refused(f"the connection broke: {_name(error)}", transient=True) from error
        if self.stop.is_set():
            raise stopped()
        return chunk

    @contextlib.contextmanager
    def _ask(self, url: str, have: int) -> Iterator[http.client.HTTPResponse]:
        headers = {"User-Agent": f"tfenv/{tfenv.__version__}", "Accept-Encoding": "identity"}
        if have:
            headers["Range"] = f"bytes={have}-"
        request = urllib.request.Request(url, headers=headers)  # noqa: S310 - checked by `complete`
        try:
            response = self._open(request, timeout=self.limits.stall)
        except urllib.error.HTTPError as error:
            with error:
                if error.code == http.HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE and have:
                    raise Refused("cannot continue what has arrived", restart=True) from None
                raise _of_status(error, self.limits) from None
        except urllib.error.URLError as error:
            raise _of_reason(error.reason, self.limits) from error
        except (http.client.HTTPException, OSError, ValueError) as error:
            raise _of_reason(error, self.limits) from error
        with response:
            if response.headers.get("Content-Encoding", "identity") != "identity":
                raise Refused("the answer is compressed, which was not asked for")
            self._answers.add(response)
            try:
                yield response
            finally:
                self._answers.discard(response)


def _of_status(error: urllib.error.HTTPError, limits: Limits) -> Refused:
    wait = error.headers.get("Retry-After", "") if error.headers else ""
    return Refused(
        f"{error.code} {error.reason}",
        transient=error.code in _TRANSIENT,
        wait=min(float(wait), limits.longest_pause) if wait.isascii() and wait.isdigit() else 0.0,
    )


def _of_reason(reason: object, limits: Limits) -> Refused:
    if isinstance(reason, TimeoutError):
        return Refused(f"stalled for {limits.stall:g} s", transient=True)
    if isinstance(reason, ssl.SSLError):
        return Refused(f"TLS: {reason.reason or reason}")
    if isinstance(reason, ValueError):
        return Refused(f"the URL cannot be used: {reason}")
    return Refused(_name(reason), transient=True)


def _name(reason: object) -> str:
    if isinstance(reason, OSError) and reason.strerror:
        return reason.strerror
    return str(reason) or type(reason).__name__


def _extent(response: http.client.HTTPResponse, have: int) -> tuple[int, int]:
    """Where the answer's bytes begin in the file, and the file's length (0: not said)."""
    if response.status == http.HTTPStatus.PARTIAL_CONTENT:
        said = _CONTENT_RANGE.fullmatch(response.headers.get("Content-Range", "").strip())
        if said is None or int(said[1]) != have:
            raise Refused("answers with another part than was asked for")
        return have, int(said[2]) if said[2] != "*" else 0
    if response.status != http.HTTPStatus.OK:
        raise Refused(f"unexpected answer {response.status}")
    length = response.headers.get("Content-Length", "")
    return 0, int(length) if length.isascii() and length.isdigit() else 0


class _WriteError(Exception):
    """Writing to the disk failed, which no other place can mend."""


@contextlib.contextmanager
def _disk(part: Path) -> Iterator[None]:
    try:
        yield
    except _WriteError as error:
        raise cannot_write(part, cast("OSError", error.__cause__)) from error
    except OSError as error:
        raise cannot_write(part, error) from error


def _write(out: IO[bytes], chunk: bytes) -> None:
    view = memoryview(chunk)
    try:
        while view:
            view = view[out.write(view) :]
    except OSError as error:
        raise _WriteError from error


def _restart(out: IO[bytes], have: int, advance: Callable[[int], None]) -> None:
    advance(-have)
    out.seek(0)
    out.truncate()


def _hash_of(path: Path) -> _Digest:
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while chunk := stream.read(_CHUNK):
            digest.update(chunk)
    return digest


def cannot_write(path: Path, error: OSError) -> DownloadError:
    """The error of a folder that cannot be written; a full disk is named as such."""
    full = error.errno in {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
    return DownloadError(
        f"cannot write below {path.parent}",
        "the disk is full" if full else str(error),
        "free some space, or set TFENV_CACHE to a folder on a larger disk; "
        "what has arrived is kept and the next run continues there",
    )
