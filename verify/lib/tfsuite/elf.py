"""Just enough of ELF and of NVIDIA's fat binaries to see which GPU code a library holds.

Layout of ELF64: the generic ABI. Layout of a fat binary: a container starts with the magic
0xBA55ED50, u16 version, u16 header size, u64 payload size; each entry has u16 kind (1 PTX, 2 ELF),
u16, u32 header size, u64 payload size, and the architecture as u32 at offset 28 (read off released
wheels from 2.6 to 2.20).
"""

import mmap
import os
import struct

FATBIN = ".nv_fatbin"
_MAGIC = struct.pack("<I", 0xBA55ED50)
_KINDS = {1: "compute_%d", 2: "sm_%d"}


def sections(path):
    """name -> (offset, size) of a library's sections; empty when it is no ELF64 file."""
    with open(path, "rb") as stream:
        head = stream.read(64)
        if head[:5] != b"\x7fELF\x02" or len(head) < 64:
            return {}
        (table,) = struct.unpack_from("<Q", head, 40)
        size, count, names_at = struct.unpack_from("<HHH", head, 58)
        stream.seek(table)
        rows = [
            struct.unpack_from("<IIQQQQ", stream.read(size)) for _ in range(count if table else 0)
        ]
        if not rows:
            return {}
        _, _, _, _, offset, length = rows[names_at]
        stream.seek(offset)
        names = stream.read(length)
    found = {}
    for name, _, _, _, offset, length in rows:
        found[names[name : names.index(b"\0", name)].decode("ascii", "replace")] = (offset, length)
    return found


def gpu_code(path):
    """The architectures that a library holds code for: {"sm_70", "compute_80", …}."""
    place = sections(path).get(FATBIN)
    if place is None:
        return set()
    offset, length = place
    found = set()
    with open(path, "rb") as stream:
        view = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
        try:
            at = view.find(_MAGIC, offset, offset + length)
            while at >= 0:
                header, payload = struct.unpack_from("<HQ", view, at + 6)
                end = min(at + header + payload, offset + length)
                found |= _entries(view, at + header, end)
                at = view.find(_MAGIC, max(end, at + 4), offset + length)
        finally:
            view.close()
    return found


def _entries(view, at, end):
    found = set()
    while at + 32 <= end:
        kind, header, size, arch = struct.unpack_from("<HxxIQ12xI", view, at)
        if kind not in _KINDS or header < 32:
            break
        found.add(_KINDS[kind] % arch)
        at += header + size
    return found


def libraries(package):
    """The shared libraries of an installed package, the largest first."""
    found = []
    for folder, _, names in os.walk(package):
        found += [os.path.join(folder, n) for n in names if ".so" in n and not n.endswith(".py")]
    return sorted((f for f in found if os.path.isfile(f)), key=os.path.getsize, reverse=True)
