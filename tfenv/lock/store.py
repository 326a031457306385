"""Locks as files: written and read as TOML."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

from tfenv.errors import FileFormatError
from tfenv.lock.model import FORMAT, Artifact, Lock, Value

_HEADER = "# Written by tfenv; every download of this target by hash. Do not edit.\n"


def dumps(lock: Lock) -> str:
    """The lock as TOML, one field per line, in a fixed order."""
    lines = [_HEADER.rstrip("\n")]
    lines.append(f"format = {lock.format}")
    lines.append(f"target = {_text(lock.target)}")
    lines.append(f"as-of = {_text(lock.as_of)}")
    for key, value in lock.toolchain.items():
        lines += ["", f"[toolchain.{key}]", *_value(value)]
    if lock.python is not None:
        lines += ["", "[python]", *_fields(msgspec.to_builtins(lock.python))]
    for name, table in lock.formats.items():
        for key, value in table.items():
            lines += ["", f"[format-pins.{name}.{key}]", *_value(value)]
    for artifact in lock.artifact:
        lines += ["", "[[artifact]]", *_artifact(artifact)]
    return "\n".join(lines) + "\n"


def _value(value: Value) -> Iterable[str]:
    return _fields(msgspec.to_builtins(value))


def _artifact(artifact: Artifact) -> Iterable[str]:
    return _fields(msgspec.to_builtins(artifact))


def _fields(table: dict[str, Any]) -> Iterable[str]:
    for key, value in table.items():
        yield f"{key} = {_toml(value)}"


def _toml(value: object) -> str:
    if isinstance(value, int):
        return str(value)
    if isinstance(value, list):
        return "[" + ", ".join(_toml(item) for item in value) + "]"
    return _text(str(value))


def _text(value: str) -> str:
    # A JSON string without surrogates is a TOML basic string.
    return msgspec.json.encode(value).decode().replace("\x7f", "\\u007F")


def loads(text: str, name: str) -> Lock:
    """Read a lock.

    Raises:
        FileFormatError: not TOML, not a lock, or of a format that this version does not read.
    """
    import tomli

    try:
        table = tomli.loads(text)
        if table.get("format") != FORMAT:
            raise FileFormatError(
                f"{name} has lock format {str(table.get('format'))[:20]}",
                f"this tfenv reads format {FORMAT}",
                "use the tfenv that wrote it, or write it again with `tfenv lock`",
            )
        lock = msgspec.convert(table, Lock)
    except (tomli.TOMLDecodeError, msgspec.ValidationError) as error:
        raise FileFormatError(
            f"{name} is not a lock", str(error), "write it again with `tfenv lock`"
        ) from error
    for artifact in lock.artifact:
        _check(artifact, name)
    return lock


def _check(artifact: Artifact, name: str) -> None:
    marks = [artifact.sha256, artifact.digest, artifact.nar_hash, artifact.unpinned]
    if sum(bool(mark) for mark in marks) != 1:
        raise FileFormatError(
            f"{name}: the artifact {artifact.name} is not pinned by exactly one hash",
            "each artifact has one of sha256, digest, nar-hash or unpinned",
            "write it again with `tfenv lock`",
        )


def load(path: Path) -> Lock:
    """Read a lock file.

    Raises:
        FileFormatError: the file is missing or is not a lock.
    """
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise FileFormatError(
            f"cannot read the lock {path.name}", str(error), "check the path"
        ) from error
    return loads(text, path.name)


def shipped(target: str) -> Lock | None:
    """The committed lock of a target, if it is one of those that ship."""
    path = Path(__file__).parents[1] / "locks" / "targets" / f"{target}.lock.toml"
    return loads(path.read_text("utf-8"), f"{target}.lock.toml") if path.is_file() else None
