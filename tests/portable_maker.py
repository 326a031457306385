"""Small Windows and macOS libraries, laid out as linkers do, with everything a new link changes."""

from __future__ import annotations

import hashlib
import struct

CODE = bytes.fromhex("8d447f07c3")  # lea eax, [rdi+rdi*2+7]; ret
NOTICE = b"a constant of the library"
HEADERS = 0x400


def make_pe(
    *,
    time: int = 0x5F000000,
    checksum: int = 1,
    guid: bytes = b"g" * 16,
    code: bytes = CODE,
    notice: bytes = NOTICE,
) -> bytes:
    """A PE32+ library: .text, and .rdata with exports, resources, a debug directory and a notice."""
    optional = bytearray(240)
    struct.pack_into("<HBB", optional, 0, 0x20B, 14, 29)
    struct.pack_into("<I", optional, 64, checksum)
    struct.pack_into("<I", optional, 108, 16)
    for index, address, size in ((0, 0x2000, 40), (2, 0x2040, 16), (6, 0x2060, 56)):
        struct.pack_into("<II", optional, 112 + 8 * index, address, size)
    head = bytearray(HEADERS)
    head[:2] = b"MZ"
    struct.pack_into("<I", head, 0x3C, 0x80)
    struct.pack_into("<4sHHIIIHH", head, 0x80, b"PE\0\0", 0x8664, 2, time, 0, 0, 240, 0x2022)
    head[0x98 : 0x98 + 240] = optional
    for index, (name, address, at, flags) in enumerate(
        [(b".text", 0x1000, 0x400, 0x60000020), (b".rdata", 0x2000, 0x600, 0x40000040)]
    ):
        row = struct.pack("<8sIIII12xI", name, 0x200, address, 0x200, at, flags)
        head[0x188 + 40 * index : 0x188 + 40 * (index + 1)] = row
    rdata = bytearray(0x200)
    struct.pack_into("<II", rdata, 0, 0, time)  # exports
    struct.pack_into("<II", rdata, 0x40, 0, time)  # resources
    pdb = struct.pack("<4s16sI", b"RSDS", guid, 1) + b"lib.pdb\0"
    for number, (kind, size, at) in enumerate([(2, len(pdb), 0x6A0), (13, 4, 0x6F0)]):
        address = 0x2000 + at - 0x600
        row = struct.pack("<7I", 0, time, 0, kind, size, address, at)
        rdata[0x60 + 28 * number : 0x60 + 28 * (number + 1)] = row
    rdata[0xA0 : 0xA0 + len(pdb)] = pdb
    rdata[0x100 : 0x100 + len(notice)] = notice
    return bytes(head) + code.ljust(0x200, b"\xcc") + bytes(rdata)


def make_mach(
    *,
    uuid: bytes = b"u" * 16,
    code: bytes = CODE,
    notice: bytes = NOTICE,
    flags: int = 2,
    identity: bytes = b"",
    signed: bool = True,
    cpu: int = 0x01000007,
) -> bytes:
    """A 64-bit Mach-O library: __text, __cstring, symbols, and a signature over the pages."""
    text_at, text_size, link_at = 0x400, 0x200, 0x600
    texts = code.ljust(0x100, b"\x90") + notice.ljust(0x100, b"\0")
    sections = b"".join(
        struct.pack("<16s16sQQ8I", name, b"__TEXT", at, 0x100, at, 0, 0, 0, kind, 0, 0, 0)
        for name, at, kind in ((b"__text", 0x400, 0x80000400), (b"__cstring", 0x500, 2))
    )
    sections += struct.pack("<16s16sQQ8I", b"__bss", b"__DATA", 0x9000, 64, 0, 0, 0, 0, 1, 0, 0, 0)
    text = struct.pack("<2I16s4Q4I", 0x19, 72 + 240, b"__TEXT", 0, 0x600, 0, 0x600, 5, 5, 3, 0)
    signature = b""
    if signed:
        pages = hashlib.sha256(texts + uuid).digest()
        directory = struct.pack(">4I", 0xFADE0C02, 48, 0x20400, flags) + pages
        signature = struct.pack(">3I", 0xFADE0CC0, 28 + 48 + 8 + len(identity), 2)
        signature += struct.pack(">4I", 0, 28, 0x10000, 28 + 48) + directory
        signature += struct.pack(">2I", 0xFADE0B01, 8 + len(identity)) + identity
    symbols = b"_answer\0".ljust(32, b"\0")
    link = struct.pack(
        "<2I16s4Q4I", 0x19, 72, b"__LINKEDIT", link_at, 0x1000, link_at,
        len(symbols) + len(signature), 1, 1, 0, 0,
    )  # fmt: skip
    commands = [text + sections, link, struct.pack("<2I", 0x1B, 24) + uuid]
    commands.append(struct.pack("<6I", 0x32, 24, 1, 12 << 16, 13 << 16, 0))
    if signed:
        commands.append(struct.pack("<4I", 0x1D, 16, link_at + len(symbols), len(signature)))
    body = b"".join(commands)
    head = struct.pack("<8I", 0xFEEDFACF, cpu, 0, 6, len(commands), len(body), 0, 0) + body
    return head.ljust(text_at, b"\0") + texts.ljust(text_size, b"\0") + symbols + signature


def make_fat(*parts: bytes) -> bytes:
    """A universal file of several architectures."""
    rows, data = b"", b""
    start = 8 + 20 * len(parts)
    for part in parts:
        (cpu,) = struct.unpack_from("<I", part, 4)
        rows += struct.pack(">5I", cpu, 0, start + len(data), len(part), 0)
        data += part
    return struct.pack(">2I", 0xCAFEBABE, len(parts)) + rows + data
