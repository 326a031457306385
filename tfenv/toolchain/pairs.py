"""Which CUDA and cuDNN a release is known to be built with."""

from __future__ import annotations

import functools

import msgspec

from tfenv import facts
from tfenv.facts import schema
from tfenv.target import Target, within
from tfenv.toolchain import lookup


class Pair(msgspec.Struct, frozen=True):
    """A CUDA and a cuDNN that belong together, and who says so."""

    cuda: str
    cudnn: str
    reason: str
    source: str


@functools.cache
def pairs(target: Target) -> tuple[Pair, ...]:
    """Known pairs: the default first, then the tested one, then others'."""
    found: list[tuple[int, Pair]] = []
    known = lookup.tested(target)
    if known is not None and known.cuda:
        text = f"TensorFlow tested CUDA {known.cuda} with cuDNN {known.cudnn} for {known.version}"
        found.append((1, Pair(known.cuda, known.cudnn, text, known.source)))
    for row in facts.rows(schema.CudaPair):
        here = not row.platforms or target.platform in row.platforms
        if here and within(target.version, row.versions):
            rank = 0 if row.default else 2
            found.append((rank, Pair(row.cuda, row.cudnn, row.reason, row.source)))
    return tuple(pair for _, pair in sorted(found, key=lambda item: item[0]))
