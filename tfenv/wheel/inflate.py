"""Raw deflate and CRC-32: isal where it is installed (twice zlib's speed), else zlib."""

from __future__ import annotations

import functools
import importlib
import zlib
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, NamedTuple

CHUNK = 1 << 20
_INPUT = 1 << 17


class Codec(NamedTuple):
    """The functions of one implementation."""

    decompressobj: Callable[[int], Any]
    crc32: Callable[[bytes, int], int]
    error: type[Exception]


@functools.cache
def codec() -> Codec:
    """The fastest implementation that is installed."""
    try:
        isal = importlib.import_module("isal.isal_zlib")
    except ImportError:
        return Codec(zlib.decompressobj, zlib.crc32, zlib.error)
    return Codec(isal.decompressobj, isal.crc32, isal.error)


def stored(stream: BinaryIO, packed: int) -> Iterator[bytes]:
    """`packed` bytes of `stream` in chunks.

    Raises:
        ValueError: the stream ends early.
    """
    left = packed
    while left:
        data = stream.read(min(left, CHUNK))
        if not data:
            raise ValueError("the file ends inside a member")
        left -= len(data)
        yield data


def deflated(stream: BinaryIO, packed: int) -> Iterator[bytes]:
    """The inflated content of `packed` bytes of `stream`, in chunks of at most 1 MiB.

    Raises:
        ValueError: the data is damaged, ends early, or goes on after its end.
    """
    inflater = codec().decompressobj(-15)
    left = packed
    try:
        while left and not inflater.eof:
            data = stream.read(min(left, _INPUT))
            if not data:
                raise ValueError("the file ends inside a member")
            left -= len(data)
            while data:
                out = inflater.decompress(data, CHUNK)
                data = inflater.unconsumed_tail
                if out:
                    yield out
                elif not data:
                    break
        while not inflater.eof:
            out = inflater.decompress(b"", CHUNK)
            if not out:
                raise ValueError("the compressed data of a member ends early")
            yield out
    except codec().error as error:
        raise ValueError(f"the compressed data of a member is damaged: {error}") from error
    if left or inflater.unused_data:
        raise ValueError("a member has data after its end")
