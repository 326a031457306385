"""Reading and writing files so that nothing is ever half-written."""

from __future__ import annotations

import contextlib
import hashlib
import os
from pathlib import Path

_CHUNK = 1 << 20


def write_text(path: Path, text: str, *, executable: bool = False) -> None:
    """Write `text` as UTF-8 with line feeds on every system, atomically."""
    write_bytes(path, text.encode("utf-8"), executable=executable)


def write_bytes(path: Path, data: bytes, *, executable: bool = False) -> None:
    """Write to a temporary file beside `path`, then rename over it."""
    import tempfile  # here: reading and hashing need none of what it brings

    path.parent.mkdir(parents=True, exist_ok=True)
    fd, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
    try:
        with os.fdopen(fd, "wb") as stream:
            stream.write(data)
        Path(name).chmod(0o755 if executable else 0o644)
        Path(name).replace(path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            Path(name).unlink()
        raise


def sha256_bytes(data: bytes) -> str:
    """Hexadecimal sha256 of `data`."""
    return hashlib.sha256(data).hexdigest()


def sha256_file(path: Path) -> str:
    """Hexadecimal sha256 of a file, read in chunks of 1 MiB."""
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while chunk := stream.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def size_text(count: int) -> str:
    """Bytes for people: 1.4 GB (10^9)."""
    value = float(count)
    for unit in ("B", "kB", "MB"):
        if value < 1000:
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:.1f} GB"
