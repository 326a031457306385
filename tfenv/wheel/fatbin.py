"""GPU code inside a library: which architectures, machine code or PTX, and how much.

`nvcc` and clang put fat binaries into one section. A section is a row of containers; a container
is a 16-byte header and a row of entries, each with its own header. The layout is not documented;
it was read from released TensorFlow wheels and agrees with `cuobjdump` on files that both read:
    container: u32 0xBA55ED50, u16 version, u16 header size, u64 size of the entries
    entry:     u16 kind (1 PTX, 2 machine code), u16, u32 header size, u64 payload size, ...,
               u32 architecture at offset 28 (80 for sm_80)
"""

from __future__ import annotations

import struct
from collections import Counter
from dataclasses import dataclass, field

from tfenv.wheel.blob import Blob

# ELF names; PE cuts a section's name at eight characters.
SECTIONS = (".nv_fatbin", "__nv_relfatbin", ".nv_fatb", "__nv_fatbin")
_MAGIC = struct.pack("<I", 0xBA55ED50)
_CONTAINER = struct.Struct("<IHHQ")
_ENTRY = struct.Struct("<HHIQ12xI")
_PTX, _MACHINE_CODE = 1, 2
_WINDOW = 1 << 20
_MAX_PARTS = 1 << 20  # containers and entries; TensorFlow's largest wheel has under 10,000


@dataclass(slots=True)
class GpuCode:
    """Bytes of GPU code by architecture number."""

    containers: int = 0
    entries: int = 0
    sass: Counter[int] = field(default_factory=Counter)
    ptx: Counter[int] = field(default_factory=Counter)

    def add(self, other: GpuCode) -> None:
        self.containers += other.containers
        self.entries += other.entries
        self.sass.update(other.sass)
        self.ptx.update(other.ptx)


def scan(blob: Blob, offset: int, size: int) -> GpuCode:
    """Walk the containers of one section.

    Raises:
        ValueError: there are more parts than any real library has.
    """
    found = GpuCode()
    at, end = offset, min(offset + size, blob.size)
    lookalikes = 0
    while (at := _next_container(blob, at, end)) >= 0:
        _, version, header, length = _CONTAINER.unpack(blob.read(at, _CONTAINER.size))
        if version != 1 or header < _CONTAINER.size or at + header + length > end:
            at += 4  # bytes that only look like a container
            lookalikes += 1
            _bound(lookalikes)
            continue
        found.containers += 1
        _bound(found.containers)
        _entries(blob, at + header, at + header + length, found)
        at += header + length
    return found


def _next_container(blob: Blob, at: int, end: int) -> int:
    while at + _CONTAINER.size <= end:
        window = blob.near(at, min(_WINDOW if blob.near(at, 4) != _MAGIC else 4, end - at))
        where = window.find(_MAGIC)
        if where >= 0 and at + where + _CONTAINER.size <= end:
            return at + where
        at += max(len(window) - 3, 1)
    return -1


def _bound(count: int) -> None:
    if count > _MAX_PARTS:
        raise ValueError(f"its GPU code claims over {_MAX_PARTS} parts")


def _entries(blob: Blob, at: int, end: int, found: GpuCode) -> None:
    while at + _ENTRY.size <= end:
        kind, _, header, payload, arch = _ENTRY.unpack(blob.read(at, _ENTRY.size))
        if header < _ENTRY.size or at + header + payload > end:
            return
        if kind == _MACHINE_CODE:
            found.sass[arch] += payload
        elif kind == _PTX:
            found.ptx[arch] += payload
        found.entries += 1
        _bound(found.entries)
        at += header + payload
