"""For each normaliser: a pair that differs only by it, and pairs that hide a real change behind it.

The hidden changes are one machine instruction, one constant of a library, and one Python line.
"""

from __future__ import annotations

import dataclasses
import struct
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.unit import test_audit_portables
from tests.wheel_maker import compile_library, make_wheel, record_line
from tfenv.audit import normalise
from tfenv.audit.compare import audit
from tfenv.audit.declared import Declaration
from tfenv.audit.model import Audit
from tfenv.wheel import blob, elf

PYTHON = b"def answer():\n    return 42\n"
SOURCE = """
extern "C" __attribute__((used)) const char notice[] = "a constant of the library";
extern "C" __attribute__((used)) const char pad[8192] = "padding", when[] = "{when}";
extern "C" __attribute__((used)) const char pad2[8192] = "x", where[] = "{where}";
extern "C" __attribute__((used)) const char pad3[8192] = "x", git[] = "{git}";
extern "C" int answer(int x) {{ return x * 3 + 7; }}
extern "C" const char *first() {{ return "{text}"; }}
extern "C" const char *second() {{ return "7.3.1 20180303 compiler"; }}
"""


@dataclasses.dataclass(frozen=True)
class Build:
    """One way to make the wheel. What two builds do not share is what differs between them."""

    when: str = "Nov 30 2026"
    where: str = "/tmp/build-a/unit.cc"
    git: str = "v2.6.3-70-g33ed2b11cb8"
    text: str = "v2.6.3-70-g33ed2b11cb8"
    build_id: str = "0x" + "ab" * 20
    version: str = "2.6.4"
    date: tuple[int, int, int, int, int, int] = (2022, 5, 13, 10, 0, 0)
    reverse: bool = False
    mode: int = 0o644
    method: int = 8
    pyc_time: int = 1_600_000_000
    record_reverse: bool = False


class Hidden(NamedTuple):
    """A change behind the normaliser, and how the audit must call it."""

    name: str
    kind: str
    path: str
    word: str
    change: Callable[[dict[str, bytes]], None]


LIBRARY = "tensorflow/lib.so"


def _replace(members: dict[str, bytes], path: str, old: bytes, new: bytes) -> None:
    assert members[path].count(old) == 1
    members[path] = members[path].replace(old, new)


def _instruction(members: dict[str, bytes]) -> None:
    """Make answer() compute x * 3 + 8: one byte of one instruction."""
    data = members[LIBRARY]
    with blob.of_bytes(data) as stream:
        parsed = elf.parse(stream)
        symbol = next(s for s in elf.symbols(stream, parsed) if s.name == "answer")
        start = parsed.offset_of(symbol.address)
    body = data[start : start + symbol.size]
    at = start + body.rindex(b"\x07")
    members[LIBRARY] = data[:at] + b"\x08" + data[at + 1 :]


def _constant(members: dict[str, bytes]) -> None:
    _replace(members, LIBRARY, b"a constant of the library", b"b constant of the library")


def _python(members: dict[str, bytes]) -> None:
    _replace(members, "tensorflow/answer.py", b"42", b"43")


HIDDEN = [
    Hidden("instruction", "instruction", LIBRARY, "answer+0x", _instruction),
    Hidden("constant", "constant", LIBRARY, "b constant", _constant),
    Hidden("python", "python-line", "tensorflow/answer.py", "line 2", _python),
]

# What the second build does otherwise, for a pair that differs by one normaliser alone.
PAIRS: dict[str, Build] = {
    "zip-order": Build(reverse=True),
    "zip-mtime": Build(date=(2022, 5, 22, 18, 8, 44)),
    "zip-mode": Build(mode=0o664),
    "zip-encoding": Build(method=0),
    "version": Build(version="2.6.5"),
    "git-version": Build(git="v2.6.4-99-g6b54e9fa35d"),
    "build-timestamp": Build(when="Dec 24 2026"),
    "embedded-path": Build(where="/home/bld-bb/unit.cc"),
    "pyc": Build(pyc_time=1_700_000_000),
    "record": Build(record_reverse=True),
    "build-id": Build(build_id="0x" + "cd" * 20),
    "string-move": Build(text="v2.6.4-9-g6b54e9fa35d"),
}
# Normalisers that come along: a changed library, .pyc or version changes RECORD's hashes.
COMPANIONS = {
    "version": {"record"},
    "git-version": {"record"},
    "build-timestamp": {"record"},
    "embedded-path": {"record"},
    "pyc": {"record"},
    "build-id": {"record"},
    "string-move": {"record", "git-version"},
}

NEW_VERSION = Declaration(version=("2.6.4", "2.6.5"))
_LIBRARIES: dict[tuple[str, ...], bytes] = {}


def library(folder: Path, build: Build) -> bytes:
    key = (build.when, build.where, build.git, build.text, build.build_id)
    if key not in _LIBRARIES:
        fields = {"when": build.when, "where": build.where, "git": build.git, "text": build.text}
        source = SOURCE.format(**fields)
        flags = ("-s", f"-Wl,--build-id={build.build_id}", "-fno-ident")
        _LIBRARIES[key] = compile_library(folder, source, *flags)
    return _LIBRARIES[key]


def members(folder: Path, build: Build) -> dict[str, bytes]:
    pyc = struct.pack("<H2sIII", 3394, b"\r\n", 0, build.pyc_time, len(PYTHON)) + b"code"
    return {
        "tensorflow/answer.py": PYTHON,
        "tensorflow/answer.pyc": pyc,
        "tensorflow/version.py": f"VERSION = '{build.version}'\n".encode(),
        LIBRARY: library(folder, build),
    }


def wheel(folder: Path, build: Build, change: Callable[[dict[str, bytes]], None] | None) -> Path:
    content = members(folder / "work", build)
    if change:
        change(content)
    record = None
    if build.record_reverse:
        lines = [record_line(path, data) for path, data in content.items()]
        info = f"tensorflow_cpu-{build.version}.dist-info"
        plain = make_wheel(folder / "plain", content, version=build.version)
        import zipfile

        with zipfile.ZipFile(plain) as archive:
            lines += [
                record_line(f"{info}/{n}", archive.read(f"{info}/{n}"))
                for n in ("METADATA", "WHEEL")
            ]
        record = ("".join(reversed(lines)) + f"{info}/RECORD,,\n").encode()
    return make_wheel(
        folder,
        content,
        version=build.version,
        date=build.date,
        reverse=build.reverse,
        mode=build.mode,
        method=build.method,
        record=record,
    )


def compared(
    tmp_path: Path, name: str, change: Callable[[dict[str, bytes]], None] | None, **options: object
) -> Audit:
    one = wheel(tmp_path / "a", Build(), None)
    two = wheel(tmp_path / "b", PAIRS[name], change)
    if PAIRS[name].version != Build.version:
        options["declaration"] = NEW_VERSION
    return audit(one, two, **options)  # type: ignore[arg-type]


def test_every_normaliser_has_a_pair() -> None:
    assert {*PAIRS, *test_audit_portables.PAIRS} == set(normalise.NAMES)


@pytest.mark.parametrize("name", PAIRS)
def test_equivalent_after_this_normaliser(tmp_path: Path, name: str) -> None:
    result = compared(tmp_path, name, None)
    assert result.differences == []
    assert result.verdict == "equivalent"
    assert set(result.normalisers) == {name} | COMPANIONS.get(name, set())


@pytest.mark.parametrize("name", PAIRS)
def test_different_without_this_normaliser(tmp_path: Path, name: str) -> None:
    others = [other for other in normalise.NAMES if other != name]
    result = compared(tmp_path, name, None, names=others)
    assert result.verdict == "different"
    assert name not in result.normalisers


@pytest.mark.parametrize("hidden", HIDDEN, ids=lambda hidden: hidden.name)
@pytest.mark.parametrize("name", PAIRS)
def test_a_real_change_behind_this_normaliser_is_named(
    tmp_path: Path, name: str, hidden: Hidden
) -> None:
    result = compared(tmp_path, name, hidden.change)
    assert result.verdict == "different"
    (found,) = result.differences
    assert (found.kind, found.path) == (hidden.kind, hidden.path)
    assert hidden.word in found.detail
    assert name in result.normalisers or name == "zip-encoding"


def test_a_pointer_to_another_text_is_no_move(tmp_path: Path) -> None:
    """Code that now points to a text which says something else is a changed program."""

    def redirect(content: dict[str, bytes]) -> None:
        data = content[LIBRARY]
        with blob.of_bytes(data) as stream:
            parsed = elf.parse(stream)
            symbol = next(s for s in elf.symbols(stream, parsed) if s.name == "second")
            start = parsed.offset_of(symbol.address)
        at = data.index(b"\x48\x8d\x05", start) + 3
        (displacement,) = struct.unpack_from("<i", data, at)
        moved = struct.pack("<i", displacement + 2)
        content[LIBRARY] = data[:at] + moved + data[at + 4 :]

    result = compared(tmp_path, "zip-order", redirect)
    (found,) = result.differences
    assert found.kind == "instruction"
    assert "second+0x" in found.detail


def test_normalisers_look_at_one_side_only() -> None:
    """A mark never depends on the other side: equal marks mean equal meaning."""
    facts = normalise.Facts("2.6.4")
    for item in normalise.REGISTRY:
        if item.content:
            data = b"v2.6.3-70-g33ed2b1 2.6.4 Nov 30 2026 10:00:00 /tmp/a/b.cc"
            once = item.content("x", data, facts)
            assert item.content("x", once, facts) == once


@pytest.mark.parametrize(
    ("data", "left"),
    [
        (b"x = 2.6", b"x = 2.6"),
        (b"12.6.4 2.6.40 2.6.4.1 2.6.4rc1", b"12.6.4 2.6.40 2.6.4.1 2.6.4rc1"),
        (b"'2.6.4' ==2.6.4;", b"'{version}' =={version};"),
        (b"#define TF_PATCH_VERSION 4\n#define TF_OTHER 4", b"#define TF_PATCH_VERSION {patch}\n#define TF_OTHER 4"),
    ],
)  # fmt: skip
def test_the_version_mask_takes_nothing_else(data: bytes, left: bytes) -> None:
    masked = normalise.mask_version("x", data, normalise.Facts("2.6.4"))
    for name in ("version", "patch"):
        left = left.replace(b"{%s}" % name.encode(), normalise.mark(name))
    assert masked == left


@pytest.mark.parametrize(
    "data", [b"10:20", b"1:10:20:30:40", b"2020", b"Nov 2020", b"version 2020.10.12", b"99:99:99"]
)
def test_the_timestamp_mask_takes_nothing_else(data: bytes) -> None:
    assert normalise.mask_timestamp("x", data, normalise.Facts()) == data


@pytest.mark.parametrize(
    ("one", "two"),
    [
        (b"C:\\Users\\a\\x.pdb", b"D:\\_bazel_kbuilder\\b7\\execroot\\x.pdb"),
        (b"c:/tmp/one/x.cc", b"C:/build/x.cc"),
    ],
)
def test_build_folders_of_windows(one: bytes, two: bytes) -> None:
    facts = normalise.Facts()
    assert normalise.mask_path("x", one, facts) == normalise.mask_path("x", two, facts)
    other = normalise.mask_path("x", two.replace(b"x.", b"y."), facts)
    assert normalise.mask_path("x", one, facts) != other


@pytest.mark.parametrize(
    "data",
    [
        b"C:\\Windows\\System32\\nvcuda.dll",
        b"abC:\\tmp\\a\\b",
        b"/usr/lib/libcuda.so",
        b"a/tmp/b/c",
        b"/etc/passwd",
        b"/temporary/x",
    ],
)
def test_the_path_mask_takes_nothing_else(data: bytes) -> None:
    assert normalise.mask_path("x", data, normalise.Facts()) == data


@pytest.mark.parametrize("forged", [normalise.mark("version"), b"{version}"])
def test_nobody_can_write_a_mark(tmp_path: Path, forged: bytes) -> None:
    """A side that holds the mark itself does not equal a side that holds the real thing."""
    text = b"print('%s')\n"
    one = make_wheel(tmp_path / "a", {"a.py": text % forged}, version="2.6.4")
    two = make_wheel(tmp_path / "b", {"a.py": text % b"2.6.5"}, version="2.6.5")
    result = audit(one, two, declaration=NEW_VERSION)
    (found,) = result.differences
    assert (found.path, found.kind) == ("a.py", "python-line")


def test_a_name_that_looks_like_a_mark_hides_no_member(tmp_path: Path) -> None:
    folder = "tensorflow_cpu-{version}.dist-info"
    one = make_wheel(tmp_path / "a", {f"{folder}/WHEEL": b"1"}, version="2.6.4")
    two = make_wheel(tmp_path / "b", {f"{folder}/WHEEL": b"2"}, version="2.6.5")
    result = audit(one, two, declaration=NEW_VERSION)
    assert {d.path for d in result.differences} == {f"{folder}/WHEEL"}


def test_a_wrong_record_is_never_normalised_away(tmp_path: Path) -> None:
    one = make_wheel(tmp_path / "a", {"a.py": b"x = 1\n"})
    two = make_wheel(
        tmp_path / "b", {"a.py": b"x = 1\n"}, record=b"a.py,sha256=" + b"A" * 43 + b",6\n"
    )
    result = audit(one, two)
    assert result.verdict == "different"
    assert any("in B: a.py does not have the hash" in d.detail for d in result.differences)
