"""Libraries are read as readelf reads them, and damaged ones end in a ValueError."""

from __future__ import annotations

import contextlib
import re
import shutil
import struct
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.wheel_maker import compile_library, fat_section
from tfenv.wheel import blob, elf, fatbin, library, portable, tags

SOURCE = """
#include <string>
#include <cstdio>
namespace tensorflow { std::string Name(std::string s) { std::puts(s.c_str()); return s + "!"; } }
extern "C" const char *simd() { return "AVX SSE, SSE2, SSE3, SSSE3, SSE4.1, SSE4.2"; }
extern "C" const char *git() { return "v2.6.4-9-g6b54e9fa35d"; }
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("native")
    compile_library(
        folder, SOURCE, "-Wl,-rpath,$ORIGIN:/build/lib", "-Wl,-soname,libx.so.1", "-Wl,--build-id"
    )
    return folder / "lib.so"


def readelf(path: Path, option: str) -> str:
    if shutil.which("readelf") is None:
        pytest.skip("needs readelf: apt-get install binutils")
    command = ["readelf", option, "-W", str(path)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_agrees_with_readelf(built: Path) -> None:
    with blob.of_bytes(built.read_bytes()) as data:
        parsed = elf.parse(data)
        names = {s.name for s in elf.symbols(data, parsed) if s.defined and s.name}
    dynamic = readelf(built, "-d")
    assert list(parsed.needed) == re.findall(r"NEEDED.*\[(.*)\]", dynamic)
    assert parsed.rpath == ("$ORIGIN", "/build/lib")
    assert parsed.soname == "libx.so.1"
    wanted = set(re.findall(r"Name: (\S+)  Flags", readelf(built, "-V")))
    assert {n for group in parsed.versions.values() for n in group} == wanted
    assert parsed.build_id == re.search(r"Build ID: (\w+)", readelf(built, "-n")).group(1)  # type: ignore[union-attr]
    headers = re.findall(
        r"^ +\[ *\d+\] (\S*) +[A-Z0-9_]+ +[0-9a-f]{16}", readelf(built, "-S"), re.MULTILINE
    )
    assert [s.name for s in parsed.sections if s.name] == [h for h in headers if h]
    assert {"simd", "git"} <= names
    assert not parsed.executable_stack
    assert not parsed.writable_code


def test_what_a_library_says(built: Path) -> None:
    with blob.of_bytes(built.read_bytes()) as data:
        (found,) = library.read("lib.so", data)
    assert found.simd == "AVX"
    assert found.git_version == "v2.6.4-9-g6b54e9fa35d"
    assert found.cxx11_abi is True
    assert found.compilers
    assert "GCC" in found.compilers[0]


def test_the_highest_instruction_set_counts(tmp_path: Path) -> None:
    """Parts of a library may be built for less, in constants that lie megabytes apart."""
    low, high = "SSE, SSE2", "AVX SSE, SSE2, SSE3, SSSE3, SSE4.1, SSE4.2"
    for first, last in ((low, high), (high, low)):
        source = f'extern "C" const char a[9 << 20] = "{first}", b[64] = "{last}";'
        with blob.of_bytes(compile_library(tmp_path, source)) as stream:
            assert library.read("x.so", stream)[0].simd == "AVX"


def test_a_git_version_in_the_text_of_a_bytes_object(tmp_path: Path) -> None:
    text = 'extern "C" const char *git() { return "b\'v1.13.2-0-g04256c89d8\'"; }'
    with blob.of_bytes(compile_library(tmp_path, text)) as stream:
        assert library.read("x", stream)[0].git_version == "v1.13.2-0-g04256c89d8"


def test_the_old_abi_is_told_from_the_new(tmp_path: Path) -> None:
    data = compile_library(tmp_path, SOURCE, "-D_GLIBCXX_USE_CXX11_ABI=0")
    with blob.of_bytes(data) as old:
        assert library.read("x", old)[0].cxx11_abi is False
    plain = compile_library(tmp_path, "int f() { return 1; }")
    with blob.of_bytes(plain) as none:
        assert library.read("x", none)[0].cxx11_abi is None


def test_dangerous_segments_are_seen(tmp_path: Path) -> None:
    data = bytearray(compile_library(tmp_path, SOURCE, "-Wl,-z,execstack"))
    struct.pack_into("<I", data, 64 + 4, 7)  # the first segment: readable, writable, code
    with blob.of_bytes(bytes(data)) as stream:
        parsed = elf.parse(stream)
    assert parsed.executable_stack
    assert parsed.writable_code


def test_gpu_code_is_found_in_its_section(tmp_path: Path) -> None:
    section = fat_section({35: b"a" * 40, 80: b"b" * 80}, {80: b"p" * 16})
    padded = section + b"\0" * 12 + b"\x50\xed\x55\xba" + b"\0" * 4 + section
    (tmp_path / "fat.bin").write_bytes(padded)
    source = (
        'asm(".section .nv_fatbin,\\"a\\"\\n.incbin \\"fat.bin\\"\\n.previous\\n");\n'
        "int f() { return 1; }\n"
    )
    data = compile_library(tmp_path, source)
    with blob.of_bytes(data) as stream:
        (found,) = library.read("x", stream)
    assert found.containers == 2
    assert found.sass == {"sm_35": 80, "sm_80": 160}
    assert found.ptx == {"compute_80": 32}


def test_a_container_that_lies_about_its_size_is_passed_over() -> None:
    good = fat_section({70: b"x" * 8}, {})
    lying = bytearray(good)
    struct.pack_into("<Q", lying, 8, 1 << 40)
    data = bytes(lying) + good
    with blob.of_bytes(data) as stream:
        found = fatbin.scan(stream, 0, len(data))
    assert (found.containers, dict(found.sass)) == (1, {70: 8})


@settings(max_examples=80, deadline=None)
@given(st.data())
def test_damaged_libraries_never_crash(built: Path, data: st.DataObject) -> None:
    content = bytearray(built.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        # Most tables are at the file's two ends.
        at = data.draw(st.integers(0, 1500) | st.integers(len(content) - 3000, len(content) - 9))
        noise = data.draw(st.binary(min_size=1, max_size=8))
        content[at : at + len(noise)] = noise
    content = content[: data.draw(st.just(len(content)) | st.integers(0, len(content)))]
    with blob.of_bytes(bytes(content)) as stream, contextlib.suppress(ValueError):
        library.read("x", stream)
        list(elf.symbols(stream, elf.parse(stream)))


@given(
    st.sampled_from([b"MZ", b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe", b"\x7fELF\2\1"]), st.binary()
)
def test_any_bytes_behind_a_magic_number_are_read_or_refused(magic: bytes, rest: bytes) -> None:
    with blob.of_bytes(magic + rest) as stream, contextlib.suppress(ValueError):
        library.read("x", stream)


def test_a_java_class_is_no_library() -> None:
    assert library.format_of(b"\xca\xfe\xba\xbe\0\0\0\x34") == ""
    assert library.format_of(b"\xca\xfe\xba\xbe\0\0\0\x02") == "Mach-O"


def make_pe(*, machine: int = 0x8664, dll: bytes = b"cudart64_110.dll") -> bytes:
    """The smallest PE with one imported DLL and one section of GPU code."""
    gpu = fat_section({61: b"g" * 8}, {})
    optional = bytearray(240)
    struct.pack_into("<HBB", optional, 0, 0x20B, 14, 29)
    struct.pack_into("<II", optional, 120, 0x1000, 40)
    head = bytearray(0x400)
    head[:2] = b"MZ"
    struct.pack_into("<I", head, 0x3C, 0x80)
    struct.pack_into("<4sHHIIIHH", head, 0x80, b"PE\0\0", machine, 2, 0, 0, 0, 240, 0)
    head[0x98 : 0x98 + 240] = optional
    for index, (name, address, size, at) in enumerate(
        [(b".idata", 0x1000, 0x200, 0x400), (b".nv_fatb", 0x2000, len(gpu), 0x600)]
    ):
        row = struct.pack("<8sIIII16x", name, size, address, size, at)
        head[0x188 + 40 * index : 0x188 + 40 * (index + 1)] = row
    imports = struct.pack("<5I", 0, 0, 0, 0x1000 + 64, 0) + bytes(20)
    return bytes(head) + imports.ljust(64, b"\0") + dll.ljust(0x200 - 64, b"\0") + gpu


def test_a_windows_library() -> None:
    with blob.of_bytes(make_pe()) as stream:
        (found,) = library.read("x.dll", stream)
    assert (found.format, found.machine) == ("PE", "amd64")
    assert found.needed == ["cudart64_110.dll"]
    assert found.sass == {"sm_61": 8}
    assert found.compilers == ["linker 14.29"]


def make_mach(cpu: int) -> bytes:
    name = b"@rpath/libtensorflow_framework.2.dylib\0".ljust(48, b"\0")
    load = struct.pack("<6I", 0xC, 24 + len(name), 24, 0, 0, 0) + name
    path = b"@loader_path/..\0".ljust(20, b"\0")
    rpath = struct.pack("<3I", 0x1C | 0x80000000, 12 + len(path), 12) + path
    build = struct.pack("<6I", 0x32, 24, 1, 12 << 16, 13 << 16, 0)
    commands = load + rpath + build
    return struct.pack("<8I", 0xFEEDFACF, cpu, 0, 6, 3, len(commands), 0, 0) + commands


def test_a_macos_library_of_two_architectures() -> None:
    parts = [make_mach(0x01000007), make_mach(0x0100000C)]
    first = 8 + 2 * 20
    rows = struct.pack(">5I", 0x01000007, 0, first, len(parts[0]), 0)
    rows += struct.pack(">5I", 0x0100000C, 0, first + len(parts[0]), len(parts[1]), 0)
    with blob.of_bytes(struct.pack(">II", 0xCAFEBABE, 2) + rows + b"".join(parts)) as stream:
        found = portable.parse_mach(stream)
    assert [part.machine for part in found] == ["x86_64", "arm64"]
    assert found[0].needed == ("@rpath/libtensorflow_framework.2.dylib",)
    assert found[1].rpath == ("@loader_path/..",)
    assert found[1].minimum_os == "12.0"


def test_versions_are_compared_as_numbers() -> None:
    names = ["GLIBC_2.4", "GLIBC_2.12", "GLIBC_2.9", "GLIBCXX_3.4.9", "GLIBC_PRIVATE", "OMP_1.0"]
    assert tags.highest(names) == {"GLIBC": "2.12", "GLIBCXX": "3.4.9"}


@pytest.mark.parametrize(
    ("versions", "machine", "tag"),
    [
        (["GLIBC_2.12", "GLIBCXX_3.4.13"], "x86_64", "manylinux_2_12_x86_64"),
        (["GLIBC_2.12", "GLIBCXX_3.4.14"], "x86_64", "manylinux_2_17_x86_64"),
        (["GLIBC_2.5", "CXXABI_1.3.8"], "x86_64", "manylinux_2_24_x86_64"),
        (["GLIBC_2.17"], "aarch64", "manylinux_2_17_aarch64"),
        (["GLIBC_2.99"], "x86_64", "linux_x86_64"),
        ([], "riscv64", "linux_riscv64"),
    ],
)
def test_the_real_tag(versions: list[str], machine: str, tag: str) -> None:
    assert tags.real_tag(versions, machine) == tag


@pytest.mark.parametrize(
    ("claimed", "real", "kept"),
    [
        ("manylinux2010_x86_64", "manylinux_2_12_x86_64", True),
        ("manylinux2014_x86_64", "manylinux_2_12_x86_64", True),
        ("manylinux1_x86_64", "manylinux_2_12_x86_64", False),
        ("manylinux2014_x86_64", "manylinux_2_17_aarch64", False),
        ("manylinux2014_x86_64", "linux_x86_64", False),
        ("linux_x86_64", "linux_x86_64", True),
    ],
)
def test_a_tag_is_kept_when_it_promises_no_more(claimed: str, real: str, kept: bool) -> None:
    assert tags.honoured(claimed, real) is kept


@pytest.mark.parametrize(
    "part", [fat_section({}, {}), fat_section({70: b""}, {}), b"\x50\xed\x55\xba"]
)
def test_gpu_code_of_endless_parts_is_refused(monkeypatch: pytest.MonkeyPatch, part: bytes) -> None:
    monkeypatch.setattr(fatbin, "_MAX_PARTS", 100)
    data = part * 150
    with blob.of_bytes(data) as stream, pytest.raises(ValueError, match="parts"):
        fatbin.scan(stream, 0, len(data))


def test_endless_names_are_refused(built: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with blob.of_bytes(built.read_bytes()) as stream:
        monkeypatch.setattr(elf, "_MAX_SYMBOL_NAMES", 5)
        with pytest.raises(ValueError, match="longer names"):
            list(elf.symbols(stream, elf.parse(stream)))
        monkeypatch.setattr(elf, "_MAX_STRINGS", 5)
        with pytest.raises(ValueError, match="more than any real"):
            elf.parse(stream)
