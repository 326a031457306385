"""What may stand in a generated file.

Values from facts and locks are checked too: a lock is a file that somebody may have edited. Each
format then quotes by its own rules; this module keeps out what no format could want.
"""

from __future__ import annotations

import re

from tfenv.errors import UnsafeValueError
from tfenv.lock.model import Lock

_VERSION = re.compile(r"[A-Za-z0-9>][A-Za-z0-9.,:+_ \[\]=<>-]{0,199}")
_URL = re.compile(r"https?://[A-Za-z0-9.-]+(?::\d{1,5})?(?:/[A-Za-z0-9._~%+@:=,-]*)*")
_PLACE = re.compile(r"[a-z0-9.-]+(?:/[a-z0-9._-]+)*")
_FOLDER = re.compile(r"(?:/[A-Za-z0-9_+-][A-Za-z0-9._+-]*)+")
_HEX = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_SRI = re.compile(r"sha256-[A-Za-z0-9+/]{43}=")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/+-]{0,99}")


def check(lock: Lock) -> None:
    """Refuse a lock that holds a value which could change the meaning of a generated file.

    Raises:
        UnsafeValueError: the value and where it stands.
    """
    _fit(_NAME, lock.target, "target")
    for key, value in lock.toolchain.items():
        _fit(_NAME, key, "a key of the toolchain")
        _fit(_VERSION, value.value, f"toolchain.{key}")
    for name, table in lock.formats.items():
        for key, value in table.items():
            _fit(_VERSION, value.value.replace("@", "-").replace("/", "-"), f"{name}.{key}")
    for artifact in lock.artifact:
        where = f"artifact {artifact.name[:40]}"
        _fit(_NAME, artifact.name, where)
        _fit(_VERSION, artifact.version, where)
        for url in artifact.urls:
            _fit(_PLACE if artifact.kind == "image" else _URL, url, where)
        for pattern, text in (
            (_HEX, artifact.sha256),
            (_HEX, artifact.rev),
            (_DIGEST, artifact.digest),
            (_SRI, artifact.nar_hash),
        ):
            if text:
                _fit(pattern, text, where)


def url(text: str, where: str) -> str:
    """A web address without anything that a shell, Docker or Nix would read otherwise.

    Raises:
        UnsafeValueError: it is none.
    """
    _fit(_URL, text, where)
    return text


def folder(text: str, where: str) -> str:
    """An absolute folder without anything that Nix would read otherwise in `path:FOLDER`.

    Raises:
        UnsafeValueError: it is none.
    """
    _fit(_FOLDER, text, where)
    return text


def _fit(pattern: re.Pattern[str], text: str, where: str) -> None:
    if not pattern.fullmatch(text):
        raise UnsafeValueError(
            f"{where}: {text[:60]!r} cannot stand in a generated file",
            "it holds characters that a shell, Docker, Nix or YAML could read as something else",
            "correct the value in the lock or on the command line",
        )
