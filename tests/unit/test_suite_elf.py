"""Reading GPU code out of a library, by the suite's own few lines of ELF."""

from __future__ import annotations

import importlib.util
import struct
from pathlib import Path
from types import ModuleType

import pytest

from tfenv.resources import suite


@pytest.fixture(scope="module")
def elf() -> ModuleType:
    spec = importlib.util.spec_from_file_location("suite_elf", suite() / "lib/tfsuite/elf.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def container(*entries: tuple[int, int]) -> bytes:
    """A fat binary of (kind, architecture) entries: 1 is PTX, 2 is native code."""
    body = b""
    for kind, arch in entries:
        head = struct.pack("<HxxIQ12xI", kind, 64, 40, arch)
        body += head.ljust(64, b"\0") + b"\x55" * 40
    return struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(body)) + body


def library(section: str, content: bytes) -> bytes:
    """An ELF64 file with one section and the table of names."""
    names = b"\0" + section.encode() + b"\0.shstrtab\0"
    at = 64
    table = at + len(content) + len(names)
    head = b"\x7fELF\x02\x01\x01".ljust(16, b"\0")
    head += struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, 0, table, 0, 64, 0, 0, 64, 3, 2)
    rows = bytes(64)
    rows += struct.pack("<IIQQQQ", 1, 1, 0, 0, at, len(content)).ljust(64, b"\0")
    rows += struct.pack("<IIQQQQ", 2 + len(section), 3, 0, 0, at + len(content), len(names)).ljust(
        64, b"\0"
    )
    return head + content + names + rows


def read(elf: ModuleType, folder: Path, data: bytes) -> set[str]:
    path = folder / "lib.so"
    path.write_bytes(data)
    found: set[str] = elf.gpu_code(str(path))
    return found


def test_architectures_of_all_containers(elf: ModuleType, tmp_path: Path) -> None:
    content = container((2, 35), (2, 80), (1, 80)) + bytes(24) + container((2, 75))
    found = read(elf, tmp_path, library(".nv_fatbin", content))
    assert found == {"sm_35", "sm_80", "compute_80", "sm_75"}


def test_a_library_without_gpu_code(elf: ModuleType, tmp_path: Path) -> None:
    assert read(elf, tmp_path, library(".text", container((2, 35)))) == set()


@pytest.mark.parametrize("data", [b"", b"\x7fELF", b"not a library" * 9, bytes(64)])
def test_what_is_no_library(elf: ModuleType, tmp_path: Path, data: bytes) -> None:
    assert read(elf, tmp_path, data) == set()


def test_a_container_that_lies_about_its_size(elf: ModuleType, tmp_path: Path) -> None:
    content = struct.pack("<IHHQ", 0xBA55ED50, 1, 16, 1 << 60) + container((2, 35))[16:]
    assert read(elf, tmp_path, library(".nv_fatbin", content)) == {"sm_35"}
