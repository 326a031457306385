"""Ask the configured package index; nothing else of `facts` touches the world.

The index is `--index`, TFENV_INDEX, or what pip or uv is configured with. Its answers are hostile until
checked: their form, their length, the scheme of every address, and of small files the sha256.
"""

from __future__ import annotations

import base64
import os
import re
import subprocess
import urllib.error
import urllib.parse
import urllib.request
from typing import IO, TYPE_CHECKING

from tfenv.errors import DownloadError, HashMismatchError, UsageError
from tfenv.facts.update import listing, ranges
from tfenv.files import sha256_bytes

if TYPE_CHECKING:
    from http.client import HTTPMessage

ACCEPT = "application/vnd.pypi.simple.v1+json"
_MOST = 64 << 20  # bytes of one answer; the longest of 2026 has 1.5 MB
_WHOLE = 4 << 20  # files up to this size are read whole and held against their sha256
_SECONDS = 60


class Index:
    """One package index, as it is today; what was asked once is not asked again."""

    def __init__(self, address: str, today: str) -> None:
        self.address = address
        self.today = today  # YYYY-MM-DD; it stands in the `source` of what is written
        self._pages: dict[str, tuple[listing.File, ...]] = {}
        self._members: dict[tuple[str, str], str | None] = {}

    def files(self, distribution: str) -> tuple[listing.File, ...]:
        """The files of a distribution; none where the index does not have it.

        Raises:
            DownloadError: no answer, or an answer in another form.
            FileFormatError: the page cannot be read.
        """
        if distribution not in self._pages:
            page = ask(self.address, distribution)
            self._pages[distribution] = listing.read(distribution, page) if page else ()
        return self._pages[distribution]

    def member(self, distribution: str, file: listing.File, pattern: str) -> str | None:
        """The text of the one member of a wheel whose name fits a pattern; None: there is none.

        Raises:
            DownloadError: no answer, or the index does not serve ranges of bytes.
            HashMismatchError: a small file is not what the index announced.
            FileFormatError: it is no wheel.
        """
        key = (file.filename, pattern)
        if key not in self._members:
            self._members[key] = self._member(distribution, file, pattern)
        return self._members[key]

    def _member(self, distribution: str, file: listing.File, pattern: str) -> str | None:
        place = _address(self.address)[0].geturl()
        url = urllib.parse.urljoin(f"{place}/{distribution}/", file.url)
        what = file.filename[:120]
        _hold_scheme(url, what)
        if file.size > _WHOLE:
            return ranges.member(lambda a, b: self._part(url, a, b, what), file.size, pattern, what)
        data = _get(_request(self.address, url), f"{what} did not come", _WHOLE)[1]
        if not file.sha256 or sha256_bytes(data) != file.sha256:
            raise HashMismatchError(
                f"{what} is not the file that the index announced",
                f"its sha256 is {sha256_bytes(data)}, announced was {file.sha256 or 'none'}",
                "check the index or its mirror",
            )
        return ranges.member(lambda a, b: data[a : b + 1], len(data), pattern, what)

    def _part(self, url: str, first: int, last: int, what: str) -> bytes:
        wanted = {"Range": f"bytes={first}-{last}", "Accept-Encoding": "identity"}
        request = _request(self.address, url, **wanted)
        return _get(request, f"a part of {what} did not come", last - first + 1)[1]


def configured(option: str = "") -> str:
    """The index's address, without a slash at its end.

    Raises:
        UsageError: it is not an http or https address.
        DownloadError: none is set, and uv's own cannot be learnt.
    """
    index = option or os.environ.get("TFENV_INDEX", "") or _of_uv()
    if urllib.parse.urlsplit(index).scheme not in {"http", "https"}:
        raise UsageError(
            "the package index is not a web address",
            "this looks for newer files on an index that speaks http",
            "give one with --index https://HOST/simple",
        )
    return index.rstrip("/")


def ask(index: str, distribution: str) -> bytes:
    """The index's page of one distribution, as JSON; empty: the index does not have it.

    Raises:
        DownloadError: no answer, or an answer in another form.
    """
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", distribution):
        raise ValueError(f"not a normalised distribution name: {distribution}")
    # `configured` lets http and https through and nothing else.
    place = _address(index)[0].geturl()
    request = urllib.request.Request(  # noqa: S310
        f"{place}/{distribution}/", headers={"Accept": ACCEPT}
    )
    _authorise(request, index)
    try:
        kind, data = _get(request, f"the package index did not list {distribution}", _MOST)
    except _AbsentError:
        return b""
    if kind != ACCEPT:
        raise DownloadError(
            f"the package index did not list {distribution}",
            f"its answer is {kind[:60]}; wanted is {ACCEPT}",
            "use an index that speaks PEP 691 JSON",
        )
    return data


def document(index: str, url: str, accept: str, most: int, what: str) -> bytes:
    """Another document of the index, of at most `most` bytes.

    Raises:
        DownloadError: it did not come, or is longer.
    """
    _hold_scheme(url, what)
    return _get(
        _request(index, url, Accept=accept), f"the package index did not give {what}", most
    )[1]


def _request(index: str, url: str, **headers: str) -> urllib.request.Request:
    """A request for a file; the index's password goes to the index's own host alone."""
    request = urllib.request.Request(url, headers=headers)  # noqa: S310 the scheme is held
    if urllib.parse.urlsplit(url)[:2] == _address(index)[0][:2]:
        _authorise(request, index)
    return request


class _AbsentError(DownloadError):
    """Status 404."""


class _Redirects(urllib.request.HTTPRedirectHandler):
    """An answer may send elsewhere on the web, but never from https to http."""

    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: HTTPMessage,
        newurl: str,
    ) -> urllib.request.Request | None:
        schemes = {"https"} if req.type == "https" else {"http", "https"}
        if urllib.parse.urlsplit(newurl).scheme not in schemes:
            fp.close()
            raise ValueError("it sends to an address that is not of the web, or not as safe")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


_OPENER = urllib.request.build_opener(_Redirects)


def _get(request: urllib.request.Request, what: str, most: int) -> tuple[str, bytes]:
    """Media type and content of an answer."""
    try:
        with _OPENER.open(request, timeout=_SECONDS) as answer:
            kind: str = answer.headers.get_content_type()
            data: bytes = answer.read(most + 1)
            partial = answer.status == 206
    except urllib.error.HTTPError as error:
        error.close()
        kinds = _AbsentError if error.code == 404 else DownloadError
        raise kinds(what, f"HTTP status {error.code}", "try again, or another --index") from error
    except (OSError, ValueError) as error:
        # The reason without the address, which may hold a password.
        reason = str(getattr(error, "reason", error))
        raise DownloadError(what, reason, "try again, or another --index") from error
    if len(data) > most:
        raise DownloadError(what, f"its answer has more than {most} bytes", "check the index")
    if request.has_header("Range") and not partial:
        reason = "its answer is the whole file: it does not serve ranges of bytes"
        raise DownloadError(what, reason, "use an index that does, such as uv's default")
    return kind, data


def _address(index: str) -> tuple[urllib.parse.SplitResult, str]:
    """An index's address without the name and password in it, and these."""
    parts = urllib.parse.urlsplit(index)
    secret, _, host = parts.netloc.rpartition("@")
    return parts._replace(netloc=host), urllib.parse.unquote(secret)


def _authorise(request: urllib.request.Request, index: str) -> None:
    """Say who asks, where the index's address says it. A redirect elsewhere does not carry it on."""
    if secret := _address(index)[1]:
        text = base64.b64encode(secret.encode()).decode()
        request.add_unredirected_header("Authorization", f"Basic {text}")


def _hold_scheme(url: str, what: str) -> None:
    if urllib.parse.urlsplit(url).scheme not in {"http", "https"}:
        raise DownloadError(
            f"{what} did not come", "its address is not one of the web", "check the index"
        )


def _of_uv() -> str:
    """The index that uv takes tensorflow from: it notes it under what it resolves."""
    from uv import find_uv_bin

    command = [find_uv_bin(), "pip", "compile", "--quiet", "--no-deps", "--no-header"]
    command += ["--emit-index-annotation", "--python-version", "3.12"]
    done = subprocess.run(
        [*command, "--python-platform", "x86_64-manylinux_2_28", "-"],
        input="tensorflow\n",
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    found = re.search(r"^\s+# from (\S+)$", done.stdout, re.MULTILINE)
    if done.returncode or not found:
        raise DownloadError(
            "the configured package index cannot be learnt from uv",
            done.stderr.strip()[-400:] or "uv did not name one",
            "set a reachable index with --index or TFENV_INDEX",
        )
    return found[1]
