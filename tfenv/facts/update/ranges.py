"""Read one member of a zip archive that lies elsewhere, by ranges of bytes.

A released wheel of TensorFlow has up to 600 MB and its `build_info.py` one kilobyte: the end of the
archive says where the member lies. Nothing here asks the world; the caller hands in a function that
does. Such a member cannot be held against the archive's sha256, only against the CRC beside it.
"""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from collections.abc import Callable

from tfenv.errors import FileFormatError

# Bytes `first` to `last`, both counted.
Fetch = Callable[[int, int], bytes]

_BLOCK = 128 << 10
_BUDGET = 32 << 20  # bytes of one archive; the directory of a TensorFlow wheel has 3 MB
_MEMBER = 1 << 20
_BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    NotImplementedError,
    OverflowError,
    RuntimeError,
    ValueError,
)


class RangeFile(io.RawIOBase):
    """A file of known size whose bytes are fetched when they are read."""

    def __init__(self, fetch: Fetch, size: int) -> None:
        self._fetch, self._size = fetch, size
        self._place = self._used = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._place

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._place, io.SEEK_END: self._size}[whence]
        if start + offset < 0:
            raise ValueError("a place before the file's beginning")
        self._place = start + offset
        return self._place

    def readinto(self, buffer: object) -> int:
        view = memoryview(buffer)  # type: ignore[arg-type]
        end = min(self._size, self._place + len(view))
        if end <= self._place:
            return 0
        self._used += end - self._place
        if self._used > _BUDGET:
            raise ValueError(f"more than {_BUDGET} bytes would be read of it")
        data = self._fetch(self._place, end - 1)
        if len(data) != end - self._place:
            raise ValueError(f"{len(data)} bytes came where {end - self._place} were asked for")
        view[: len(data)] = data
        self._place = end
        return len(data)


def member(fetch: Fetch, size: int, pattern: str, what: str) -> str | None:
    """The text of the one member whose name fits a pattern; None: no member fits.

    Raises:
        FileFormatError: the archive is damaged, the member too large or not text, or several fit.
    """
    try:
        with zipfile.ZipFile(io.BufferedReader(RangeFile(fetch, size), _BLOCK)) as archive:
            fit = [info for info in archive.infolist() if re.fullmatch(pattern, info.filename)]
            if not fit:
                return None
            if len(fit) > 1:
                raise ValueError(f"{len(fit)} members fit {pattern}")
            with archive.open(fit[0]) as stream:
                data = stream.read(_MEMBER + 1)
            if len(data) > _MEMBER:
                raise ValueError(f"{fit[0].filename[:80]} has more than {_MEMBER} bytes")
            return data.decode("utf-8")
    except _BROKEN as error:
        raise FileFormatError(
            f"{what} cannot be read as a wheel", str(error)[:200], "try again, or another --index"
        ) from error
