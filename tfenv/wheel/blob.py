"""Random access to one member: in memory when it is small, in an unnamed temporary file else."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from typing_extensions import Self

IN_MEMORY = 8 << 20  # bytes


class Blob:
    """Bytes that can be read at any offset. Not for use by two threads at once."""

    def __init__(self, stream: BinaryIO, size: int) -> None:
        self._stream = stream
        self.size = size

    def read(self, offset: int, length: int) -> bytes:
        """`length` bytes at `offset`.

        Raises:
            ValueError: the range is not inside the blob.
        """
        if offset < 0 or length < 0 or offset + length > self.size:
            raise ValueError(f"bytes {offset} to {offset + length} lie outside the file")
        self._stream.seek(offset)
        data = self._stream.read(length)
        if len(data) != length:
            raise ValueError("the file is cut off")
        return data

    def near(self, offset: int, length: int) -> bytes:
        """As `read`, but cut at the end of the blob."""
        start = min(max(offset, 0), self.size)
        return self.read(start, min(length, self.size - start))

    def close(self) -> None:
        self._stream.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def of_bytes(data: bytes) -> Blob:
    """A blob of bytes that are in memory already."""
    import io

    return Blob(io.BytesIO(data), len(data))


def spool(chunks: Iterable[bytes], each: Callable[[bytes], object] = len) -> Blob:
    """Take all chunks into a blob, calling `each` on every chunk on the way (a hash's update)."""
    stream = tempfile.SpooledTemporaryFile(max_size=IN_MEMORY)  # noqa: SIM115 - the blob closes it
    size = 0
    try:
        for chunk in chunks:
            each(chunk)
            stream.write(chunk)
            size += len(chunk)
    except BaseException:
        stream.close()
        raise
    return Blob(stream, size)  # type: ignore[arg-type]
