"""Ask the configured package index what files it has of a distribution.

The index is `--index`, TFENV_INDEX, or what uv is configured with. Its answer is the simple index
in JSON (PEP 691), which carries size and upload time (PEP 700).
"""

from __future__ import annotations

import os
import re
import subprocess
import urllib.error
import urllib.parse
import urllib.request

from tfenv.errors import DownloadError, UsageError

ACCEPT = "application/vnd.pypi.simple.v1+json"
_MOST = 64 << 20  # bytes of one answer; the longest of 2026 has 1.5 MB
_SECONDS = 60


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
    """The index's page of one distribution, as JSON.

    Raises:
        DownloadError: no answer, or an answer in another form.
    """
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", distribution):
        raise ValueError(f"not a normalised distribution name: {distribution}")
    # `configured` lets http and https through and nothing else.
    request = urllib.request.Request(  # noqa: S310
        f"{index}/{distribution}/", headers={"Accept": ACCEPT}
    )
    what = f"the package index did not list {distribution}"
    try:
        with urllib.request.urlopen(request, timeout=_SECONDS) as answer:  # noqa: S310
            kind = answer.headers.get_content_type()
            data: bytes = answer.read(_MOST + 1)
    except (OSError, ValueError) as error:
        raise DownloadError(what, _why(error), "try again, or another --index") from error
    if kind != ACCEPT or len(data) > _MOST:
        why = f"its answer is {kind}, {len(data)} bytes; wanted is {ACCEPT}"
        raise DownloadError(what, why, "use an index that speaks PEP 691 JSON")
    return data


def _why(error: Exception) -> str:
    """The reason without the address, which may hold a password."""
    if isinstance(error, urllib.error.HTTPError):
        error.close()
        return f"HTTP status {error.code}"
    return str(getattr(error, "reason", error))


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
