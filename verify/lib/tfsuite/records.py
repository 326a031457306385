"""TFRecord files and TensorBoard's event files, read without TensorFlow.

A record is a length (8 bytes, little endian), the masked CRC-32C of these, the data, and the
masked CRC-32C of the data: tensorflow/core/lib/io/record_writer.h.
"""

import struct

from tfsuite.checks import Wrong

_TABLE = []


def crc32c(data):
    """CRC-32C (Castagnoli), reflected polynomial 0x82F63B78."""
    if not _TABLE:
        for number in range(256):
            for _ in range(8):
                number = number >> 1 ^ (0x82F63B78 if number & 1 else 0)
            _TABLE.append(number)
    value = 0xFFFFFFFF
    for byte in data:
        value = _TABLE[(value ^ byte) & 0xFF] ^ value >> 8
    return value ^ 0xFFFFFFFF


def masked(data):
    """The CRC as it stands in a file, so that a CRC of data with a CRC in it is no trouble."""
    value = crc32c(data)
    return ((value >> 15 | value << 17) + 0xA282EAD8) & 0xFFFFFFFF


def read(path):
    """The records of a file, each held to its checksums."""
    with open(path, "rb") as stream:
        text = stream.read()
    found, at = [], 0
    while at < len(text):
        head = text[at : at + 8]
        (length,) = struct.unpack("<Q", head)
        (check,) = struct.unpack("<I", text[at + 8 : at + 12])
        data = text[at + 12 : at + 12 + length]
        (check_data,) = struct.unpack("<I", text[at + 12 + length : at + 16 + length])
        if check != masked(head) or check_data != masked(data):
            raise Wrong("record %d has a wrong checksum" % len(found))
        found.append(data)
        at += 16 + length
    return found
