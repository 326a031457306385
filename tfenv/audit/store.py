"""Members that differ, kept in one unnamed temporary file per side, so that memory stays small."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable
from typing import BinaryIO, cast

from tfenv.wheel.blob import Blob


class View(Blob):
    """A stretch of a store's file."""

    def __init__(self, stream: BinaryIO, offset: int, size: int) -> None:
        super().__init__(stream, size)
        self._offset = offset

    def read(self, offset: int, length: int) -> bytes:
        if offset < 0 or length < 0 or offset + length > self.size:
            raise ValueError(f"bytes {offset} to {offset + length} lie outside the file")
        self._stream.seek(self._offset + offset)
        return self._stream.read(length)

    def close(self) -> None:
        """The store closes the file."""


class Store:
    """Appends members to a file and reads them back at any offset."""

    def __init__(self) -> None:
        self._stream = cast("BinaryIO", tempfile.TemporaryFile())  # noqa: SIM115 - see close
        self._end = 0

    def add(self, chunks: Iterable[bytes], each: Callable[[bytes], object]) -> View:
        """Keep the chunks, calling `each` on every one."""
        start = self._end
        self._stream.seek(start)
        for chunk in chunks:
            each(chunk)
            self._stream.write(chunk)
            self._end += len(chunk)
        return View(self._stream, start, self._end - start)

    def close(self) -> None:
        self._stream.close()
