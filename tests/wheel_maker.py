"""Small wheels for tests: any members, real RECORDs, and libraries compiled on the spot."""

from __future__ import annotations

import base64
import hashlib
import shutil
import struct
import subprocess
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

CPU_BUILD_INFO = (
    "import collections\n"
    "build_info = collections.OrderedDict([('is_cuda_build', False), ('is_rocm_build', False)])\n"
)


def record_line(path: str, data: bytes) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return f"{path},sha256={digest},{len(data)}\n"


def make_wheel(
    folder: Path,
    members: Mapping[str, bytes],
    *,
    name: str = "tensorflow_cpu",
    version: str = "1.0.0",
    tag: str = "cp37-cp37m-linux_x86_64",
    metadata: str = "",
    record: bytes | None = None,
    date: tuple[int, int, int, int, int, int] = (2022, 5, 13, 10, 0, 0),
    reverse: bool = False,
    mode: int = 0o644,
    method: int = zipfile.ZIP_DEFLATED,
) -> Path:
    """Write a wheel whose RECORD is right unless `record` replaces it."""
    info = f"{name}-{version}.dist-info"
    head = (
        f"Metadata-Version: 2.1\nName: {name.replace('_', '-')}\nVersion: {version}\n{metadata}\n"
    )
    tags = "".join(f"Tag: {tag.rsplit('-', 1)[0]}-{p}\n" for p in tag.rsplit("-", 1)[1].split("."))
    files = dict(members)
    files[f"{info}/METADATA"] = head.encode()
    files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: t (1)\n{tags}".encode()
    lines = "".join(record_line(path, data) for path, data in files.items())
    files[f"{info}/RECORD"] = record or f"{lines}{info}/RECORD,,\n".encode()
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}-{version}-{tag}.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for member in sorted(files, reverse=reverse):
            item = zipfile.ZipInfo(member, date)
            item.external_attr = (0o100000 | mode) << 16
            item.compress_type = method
            archive.writestr(item, files[member])
    return path


def compile_library(folder: Path, source: str, *flags: str, name: str = "lib.so") -> bytes:
    """Compile C or C++ into a shared library; skips where there is no compiler."""
    compiler = shutil.which("g++")
    if compiler is None:
        pytest.skip("needs g++: apt-get install g++")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "unit.cc").write_text(source, encoding="utf-8")
    command = [compiler, "-shared", "-fPIC", "-O1", "-o", name, *flags, "unit.cc"]
    subprocess.run(command, check=True, cwd=folder, capture_output=True, timeout=60)
    return (folder / name).read_bytes()


def fat_section(sass: Mapping[int, bytes], ptx: Mapping[int, bytes]) -> bytes:
    """One fat binary container as nvcc lays it out."""
    entries = b"".join(
        struct.pack("<HHIQ12xI32x", kind, 0x101, 64, len(code), arch) + code
        for kind, codes in ((2, sass), (1, ptx))
        for arch, code in codes.items()
    )
    return struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(entries)) + entries
