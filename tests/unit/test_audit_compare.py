"""`tfenv audit` on wheels, folders and images: every difference is found, named and explained."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import struct
import tarfile
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from tests.wheel_maker import compile_library, fat_section, make_wheel
from tfenv.audit import causes, normalise, ranges, show
from tfenv.audit.compare import audit
from tfenv.audit.model import Audit
from tfenv.audit.quick import quick
from tfenv.cli.audit import command
from tfenv.errors import BadWheelError, MissingToolError, UsageError
from tfenv.wheel import blob
from tfenv.wheel.inspect import inspect


def found(result: Audit) -> set[tuple[str, str]]:
    return {(item.kind, item.path) for item in result.differences}


def test_the_same_file_and_a_copy_are_identical(tmp_path: Path) -> None:
    one = make_wheel(tmp_path / "a", {"a.py": b"x = 1\n"})
    two = make_wheel(tmp_path / "b", {"a.py": b"x = 1\n"})
    for other in (one, two):
        result = audit(one, other)
        assert (result.verdict, result.normalisers) == ("identical", [])
        assert result.a.sha256 == hashlib.sha256(one.read_bytes()).hexdigest()


def test_members_of_one_side(tmp_path: Path) -> None:
    one = make_wheel(tmp_path / "a", {"a.py": b"", "b.py": b"1\n"})
    two = make_wheel(tmp_path / "b", {"a.py": b"", "c.py": b"1\n"})
    result = audit(one, two)
    members = {(d.path, d.detail) for d in result.differences if d.kind == "member"}
    assert members == {("b.py", "it is only in A"), ("c.py", "it is only in B")}


@pytest.mark.parametrize("names", [normalise.NAMES, ()])
def test_a_long_record_names_what_it_lists_more(tmp_path: Path, names: tuple[str, ...]) -> None:
    """However many members follow the one that one side lacks."""
    many = {f"pkg/m{number:05}.py": b"" for number in range(5000)}
    one = make_wheel(tmp_path / "a", many)
    two = make_wheel(tmp_path / "b", {"pkg/a.so": b"1", **many})
    result = audit(one, two, names)
    told = [d.detail for d in result.differences if d.path.endswith("RECORD")]
    assert len(told) == 1
    assert told[0].startswith("only in B: 'pkg/a.so")


def test_another_tag_is_no_compiler_flag(tmp_path: Path) -> None:
    wheels = [
        make_wheel(tmp_path / tag, {"a.py": b""}, tag=f"cp37-cp37m-{tag}")
        for tag in ("manylinux2010_x86_64", "manylinux2014_x86_64")
    ]
    (found,) = audit(wheels[0], wheels[1]).differences
    assert (found.kind, found.cause.partition(",")[0]) == ("metadata", "another platform tag")
    assert causes.of_text(b"cp37-cp37m-manylinux2010", b"") == "a changed constant in the source"
    assert causes.of_text(b"gcc -march=native -O2", b"") == "other compiler flags"


def test_lines_are_numbered_and_worded(tmp_path: Path) -> None:
    one = make_wheel(tmp_path / "a", {"a.py": b"x = 1\ny = 2\nz = 3\n"})
    two = make_wheel(tmp_path / "b", {"a.py": b"x = 1\nz = 3\nw = 4\n"})
    details = [d.detail for d in audit(one, two).differences]
    assert details == ["line 2: removed 'y = 2'", "line 4: added 'w = 4'"]


def test_endless_equal_lines_do_not_stall(tmp_path: Path) -> None:
    one = make_wheel(tmp_path / "a", {"a.py": b"x\n" * 3000})
    two = make_wheel(tmp_path / "b", {"a.py": b"x\ny\n" * 1500})
    details = [d.detail for d in audit(one, two).differences]
    assert details[0] == "line 2: 'x' | 'y'"
    assert details[-1] == "1470 more lines differ"


def test_metadata_and_binary_members(tmp_path: Path) -> None:
    one = make_wheel(tmp_path / "a", {"m.pb": b"\0\1\2\3" * 9}, metadata="Requires-Dist: six\n")
    two = make_wheel(tmp_path / "b", {"m.pb": b"\0\1\2\4" + b"\0\1\2\3" * 8})
    result = audit(one, two)
    assert found(result) == {
        ("metadata", "tensorflow_cpu-1.0.0.dist-info/METADATA"),
        ("bytes", "m.pb"),
    }
    assert "offset 0x3: 03 | 04" in {d.detail for d in result.differences}


def test_a_file_that_became_executable(tmp_path: Path) -> None:
    one = make_wheel(tmp_path / "a", {"a.py": b""}, mode=0o644)
    two = make_wheel(tmp_path / "b", {"a.py": b""}, mode=0o755)
    assert ("mode", "a.py") in found(audit(one, two))


def test_a_planted_date_is_named_with_its_function(tmp_path: Path) -> None:
    source = 'extern "C" const char built[] = "{}"; extern "C" int f() {{ return 1; }}'
    wheels = [
        make_wheel(
            tmp_path / day[4:6],
            {
                "tensorflow/a.so": compile_library(
                    tmp_path / f"c{day[4:6]}", source.format(day), "-Wl,--build-id=none"
                )
            },
        )
        for day in ("Nov 29 2026 10:11:12", "Nov 30 2026 20:21:22")
    ]
    result = audit(wheels[0], wheels[1])
    assert result.verdict == "equivalent"
    (date,) = [e for e in result.explained if e.normaliser == "build-timestamp"]
    assert "Nov 29 2026" in date.detail
    assert "Nov 30 2026" in date.detail
    strict = audit(wheels[0], wheels[1], names=["record"])
    (named,) = strict.differences
    assert "__DATE__" in named.cause
    assert "built+0x" in named.detail


def test_another_compiler_other_libraries_other_symbols(tmp_path: Path) -> None:
    one = compile_library(tmp_path / "1", "int f(int x) { return x; }", "-Wl,--build-id=none")
    two = compile_library(
        tmp_path / "2",
        "#include <string>\nstd::string g(int x) { return std::to_string(x); }",
        "-Wl,-rpath,$ORIGIN",
        "-Wl,--build-id=none",
    )
    two = two.replace(b"GCC: (", b"gCC: (", 1)
    result = audit(
        make_wheel(tmp_path / "a", {"tensorflow/a.so": one}),
        make_wheel(tmp_path / "b", {"tensorflow/a.so": two}),
    )
    kinds = {kind for kind, _ in found(result)}
    assert {"compiler", "needs", "instruction", "symbol"} <= kinds
    text = " ".join(d.detail for d in result.differences)
    assert "GLIBCXX_3.4" in text
    assert "_Z1fi is only in A" in text
    assert any("another compiler" in d.cause for d in result.differences)


def test_other_gpu_architectures(tmp_path: Path) -> None:
    wheels: list[Path] = []
    for name, sass in (("a", {60: b"xxxx", 70: b"yyyy"}), ("b", {60: b"xxxx", 80: b"yyyy"})):
        (tmp_path / name).mkdir()
        (tmp_path / name / "fat.bin").write_bytes(fat_section(sass, {}))
        asm = 'asm(".section .nv_fatbin,\\"a\\"\\n.incbin \\"fat.bin\\"\\n.previous\\n");'
        library = compile_library(tmp_path / name, asm, "-Wl,--build-id=none")
        wheels.append(make_wheel(tmp_path / name, {"tensorflow/a.so": library}))
    result = audit(wheels[0], wheels[1])
    assert {kind for kind, _ in found(result)} == {"gpu-code"}
    assert any("A: sm_60, sm_70; B: sm_60, sm_80" in d.detail for d in result.differences)


def test_the_same_strings_in_another_order_are_called_so(tmp_path: Path) -> None:
    names = [f"option_{i:05}" for i in range(6000)]
    wheels: list[Path] = []
    for name, order in (("a", names), ("b", sorted(names, key=lambda n: n[::-1]))):
        array = "\\0".join(order)
        source = f'extern "C" const char table[] = "{array}";'
        library = compile_library(tmp_path / name, source, "-Wl,--build-id=none", "-s")
        wheels.append(make_wheel(tmp_path / name, {"tensorflow/a.so": library}))
    result = audit(wheels[0], wheels[1])
    assert [d.kind for d in result.differences] == ["section"]
    assert "another order" in result.differences[0].cause


def test_a_damaged_library_is_named(tmp_path: Path) -> None:
    one = make_wheel(tmp_path / "a", {"tensorflow/a.so": b"\x7fELF" + b"\2\1" * 40})
    two = make_wheel(tmp_path / "b", {"tensorflow/a.so": b"\x7fELF" + b"\2\1" * 41})
    assert found(audit(one, two)) == {("bytes", "tensorflow/a.so")}


def test_bytes_in_no_section_are_accounted_for(tmp_path: Path) -> None:
    library = compile_library(tmp_path / "c", "int f() { return 1; }")
    one = make_wheel(tmp_path / "a", {"tensorflow/a.so": library})
    two = make_wheel(tmp_path / "b", {"tensorflow/a.so": library + b"appended"})
    result = audit(one, two)
    assert [d.kind for d in result.differences] == ["headers"]
    changed = bytearray(library)
    changed[9] ^= 1  # padding of the ELF header
    three = make_wheel(tmp_path / "d", {"tensorflow/a.so": bytes(changed)})
    (header,) = audit(one, three).differences
    assert "offset 0x9, in no section" in header.detail


def test_folders_are_compared_too(tmp_path: Path) -> None:
    for name, text in (("a", "x = 1\n"), ("b", "x = 2\n")):
        (tmp_path / name / "pkg").mkdir(parents=True)
        (tmp_path / name / "pkg/m.py").write_text(text, "utf-8")
        (tmp_path / name / "pkg/same.py").write_text("", "utf-8")
    result = audit(tmp_path / "a", tmp_path / "b")
    assert found(result) == {("python-line", "pkg/m.py")}
    assert audit(tmp_path / "a", tmp_path / "a").verdict == "identical"


def layer(files: dict[str, bytes], *, mtime: int = 0, link: str = "", uid: int = 0) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        root = tarfile.TarInfo("./")
        root.type = tarfile.DIRTYPE
        archive.addfile(root)
        for name, data in files.items():
            item = tarfile.TarInfo(name)
            item.size, item.mtime, item.mode, item.uid = len(data), mtime, 0o644, uid
            archive.addfile(item, io.BytesIO(data))
        if link:
            item = tarfile.TarInfo("link")
            item.type, item.linkname = tarfile.SYMTYPE, link
            archive.addfile(item)
    return buffer.getvalue()


def image(folder: Path, layers: list[bytes], *, packed: bool = True, spoil: bool = False) -> Path:
    """A layout of one image, as `docker buildx --output type=oci` writes it."""
    blobs = folder / "blobs/sha256"
    blobs.mkdir(parents=True)

    def put(data: bytes, media: str) -> dict[str, object]:
        digest = hashlib.sha256(data).hexdigest()
        (blobs / digest).write_bytes(data + (b"x" if spoil and "layer" in media else b""))
        return {"mediaType": media, "digest": f"sha256:{digest}", "size": len(data)}

    kind = "application/vnd.oci.image.layer.v1.tar" + ("+gzip" if packed else "")
    rows = [put(gzip.compress(data, mtime=0) if packed else data, kind) for data in layers]
    config = put(b'{"config":{}}', "application/vnd.oci.image.config.v1+json")
    manifest = json.dumps({"schemaVersion": 2, "config": config, "layers": rows}).encode()
    index = {"manifests": [put(manifest, "application/vnd.oci.image.manifest.v1+json")]}
    (folder / "oci-layout").write_text('{"imageLayoutVersion": "1.0.0"}', "utf-8")
    (folder / "index.json").write_text(json.dumps(index), "utf-8")
    return folder


def test_images_are_compared_layer_by_layer(tmp_path: Path) -> None:
    files = {"usr/lib/m.py": b"x = 1\n", "etc/conf": b"a\n"}
    one = image(tmp_path / "a", [layer(files, mtime=1)])
    two = image(tmp_path / "b", [layer({**files, "etc/conf": b"b\n"}, mtime=2)], packed=False)
    assert found(audit(one, two)) == {("text-line", "layer0/etc/conf")}
    linked = [image(tmp_path / t, [layer(files, link=t)]) for t in ("here", "there")]
    assert found(audit(linked[0], linked[1])) >= {("link", "layer0/link")}


def test_what_a_layer_says_beside_content_counts(tmp_path: Path) -> None:
    files = {"etc/conf": b"a\n"}
    plain = image(tmp_path / "a", [layer(files)])
    later = audit(plain, image(tmp_path / "b", [layer(files, mtime=9)]))
    assert (later.verdict, later.normalisers) == ("equivalent", ["zip-mtime"])
    packed = audit(plain, image(tmp_path / "c", [layer(files)], packed=False))
    assert (packed.verdict, packed.normalisers) == ("equivalent", ["zip-encoding"])
    owned = audit(plain, image(tmp_path / "d", [layer(files, uid=1000)]))
    assert found(owned) == {("owner", "layer0/etc/conf")}


def test_an_image_in_a_tar_is_read_in_place(tmp_path: Path) -> None:
    folder = image(tmp_path / "a", [layer({"f": b"1"})])
    packed = tmp_path / "image.tar"
    with tarfile.open(packed, "w") as archive:
        archive.add(folder, ".")
    assert audit(folder, packed).verdict == "identical"


def test_a_layer_that_does_not_match_its_digest_is_refused(tmp_path: Path) -> None:
    good = image(tmp_path / "a", [layer({"f": b"1"})])
    with pytest.raises(BadWheelError) as caught:
        audit(good, image(tmp_path / "b", [layer({"f": b"1"})], spoil=True))
    assert "digest" in caught.value.why


@pytest.mark.parametrize("index", [b"", b"\xff", b"[" * 200_000, b'{"manifests": 1}', b"[]"])
def test_an_index_that_is_none_is_refused(tmp_path: Path, index: bytes) -> None:
    folder = image(tmp_path / "a", [layer({"f": b"1"})])
    (folder / "index.json").write_bytes(index)
    with pytest.raises(BadWheelError):
        audit(folder, folder)


def test_a_layer_with_an_escaping_name_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadWheelError):
        audit(image(tmp_path / "a", [layer({"../../evil": b"1"})]), tmp_path / "a")


def test_a_layer_that_is_a_bomb_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tfenv.audit.oci.BOMB_TOTAL", 1 << 20)
    bomb = image(tmp_path / "a", [layer({"zeros": bytes(8 << 20)})])
    with pytest.raises(BadWheelError) as caught:
        audit(bomb, bomb)
    assert "bomb" in caught.value.why


def test_quick_reads_only_the_records_and_says_so(tmp_path: Path) -> None:
    one = make_wheel(tmp_path / "a", {"a.py": b"x = 1\n", "b.py": b""})
    two = make_wheel(tmp_path / "b", {"a.py": b"x = 2\n", "b.py": b""})
    result = quick(one, two)
    assert result.trusted == "RECORD"
    assert found(result) == {("claimed", "a.py")}
    assert "trusted" in show.headline(result)
    record = b"".join([b"a.py,,\n", b"b.py,,\n"])
    liar = make_wheel(tmp_path / "c", {"a.py": b"x = 2\n", "b.py": b""}, record=record)
    with pytest.raises(BadWheelError):
        quick(one, tmp_path / "missing.whl")
    assert quick(one, liar).verdict == "different"


def test_the_command(tmp_path: Path) -> None:
    one = make_wheel(tmp_path / "a", {"<b>.py": b"x = 1\n"})
    two = make_wheel(tmp_path / "b", {"<b>.py": b"x = '<script>'\n"}, reverse=True)
    page = tmp_path / "out/report.html"
    done = CliRunner().invoke(command, [str(one), str(two), "--json", "--html", str(page)])
    assert done.exit_code == 1
    shape = json.loads(done.stdout)
    assert shape["verdict"] == "different"
    assert set(shape["differences"][0]) == {"path", "kind", "cause", "detail"}
    text = page.read_text("utf-8")
    assert "<script>" not in text
    assert "&lt;b&gt;.py" in text
    shown = CliRunner().invoke(command, [str(one), str(two)])
    assert "\n  python-line: <b>.py: line 1: 'x = 1' | \"x = '<script>'\"\n" in shown.stdout
    assert "\n      likely cause: a changed line in the source\n" in shown.stdout
    same = CliRunner().invoke(command, [str(one), str(one)])
    assert (same.exit_code, same.stdout.splitlines()[0]) == (0, "identical")
    wrong = CliRunner().invoke(command, [str(one), str(two), "--without", "zip-colour"])
    assert wrong.exit_code == 2


def test_what_lies_between_members_is_never_passed_over(tmp_path: Path) -> None:
    one = make_wheel(tmp_path / "a", {"a.py": b"x = 1\n"})
    for name in ("comment", "local", "hole"):
        data = bytearray(one.read_bytes())
        if name == "comment":
            data[-2:] = struct.pack("<H", 5) + b"hello"
        elif name == "local":
            data[10] ^= 1  # the time in a local header, which nothing reads
        else:
            at = data.find(b"PK\1\2")
            data[at:at] = b"secret"
            end = data.rfind(b"PK\5\6")
            (start,) = struct.unpack_from("<I", data, end + 16)
            struct.pack_into("<I", data, end + 16, start + 6)
        two = tmp_path / name / one.name
        two.parent.mkdir()
        two.write_bytes(bytes(data))
        result = audit(one, two)
        if name == "hole":
            assert found(result) == {("hidden-bytes", "")}
            assert "hidden-bytes" in {f.code for f in inspect(two).findings}
        else:
            assert (result.verdict, result.normalisers) == ("equivalent", ["zip-encoding"])
            assert audit(one, two, ["record"]).verdict == "different"


def test_libraries_without_section_headers_are_compared_as_a_whole(tmp_path: Path) -> None:
    library = bytearray(compile_library(tmp_path / "c", "int f() { return 1; }"))
    struct.pack_into("<Q", library, 40, 0)  # e_shoff
    struct.pack_into("<HH", library, 60, 0, 0)  # e_shnum, e_shstrndx
    one = make_wheel(tmp_path / "a", {"tensorflow/a.so": bytes(library)})
    library[len(library) // 2 : len(library) // 2 + 400 : 16] = b"\xa5" * 25
    two = make_wheel(tmp_path / "b", {"tensorflow/a.so": bytes(library)})
    result = audit(one, two)
    assert result.verdict == "different"
    assert {d.path for d in result.differences} == {"tensorflow/a.so"}


def test_strict_uses_no_normaliser(tmp_path: Path) -> None:
    one = make_wheel(tmp_path / "a", {"a.py": b"", "b.py": b""})
    two = make_wheel(tmp_path / "b", {"a.py": b"", "b.py": b""}, reverse=True)
    assert CliRunner().invoke(command, [str(one), str(two)]).exit_code == 0
    assert CliRunner().invoke(command, [str(one), str(two), "--strict"]).exit_code == 1


@given(st.binary(max_size=400), st.data())
def test_ranges_cover_exactly_the_differing_bytes(data: bytes, draws: st.DataObject) -> None:
    other = bytearray(data)
    for _ in range(draws.draw(st.integers(0, 5)) if data else 0):
        at = draws.draw(st.integers(0, len(data) - 1))
        other[at] ^= draws.draw(st.integers(1, 255))
    with blob.of_bytes(data) as one, blob.of_bytes(bytes(other)) as two:
        parts = list(ranges.differing(one, two, 0, 0, len(data), join=1))
    expected = [i for i, (x, y) in enumerate(zip(data, other, strict=True)) if x != y]
    assert [i for part in parts for i in range(part.start, part.end)] == expected


def test_a_crc_that_was_forged_to_agree_does_not_hide_a_change(tmp_path: Path) -> None:
    """Members are proven by hash; equal declared CRC and size only decide what is kept early."""
    import zlib

    target = zlib.crc32(b"x = 1  # " + b"a" * 40)
    head = b"x = 2  # " + b"a" * 36
    # Solve for four bytes that give the same CRC: CRC-32 is linear.
    base = zlib.crc32(head + bytes(4)) ^ target
    columns = [
        zlib.crc32(head + struct.pack("<I", 1 << i)) ^ zlib.crc32(head + bytes(4))
        for i in range(32)
    ]
    tail = _solve(columns, base)
    forged = head + struct.pack("<I", tail)
    assert zlib.crc32(forged) == target
    one = make_wheel(tmp_path / "a", {"a.txt": b"x = 1  # " + b"a" * 40})
    two = make_wheel(tmp_path / "b", {"a.txt": forged})
    assert ("text-line", "a.txt") in found(audit(one, two)) | {
        ("text-line", p) for k, p in found(audit(one, two)) if k == "bytes"
    }


def _solve(columns: list[int], wanted: int) -> int:
    """x with the exclusive or of its columns equal to `wanted` (Gauss over two elements)."""
    rows = [(column, 1 << i) for i, column in enumerate(columns)]
    answer = 0
    for bit in reversed(range(32)):
        pivot = next((row for row in rows if row[0] >> bit & 1), None)
        if pivot is None:
            continue
        rows = [
            (row[0] ^ pivot[0], row[1] ^ pivot[1]) if row[0] >> bit & 1 else row
            for row in rows
            if row is not pivot
        ]
        if wanted >> bit & 1:
            wanted ^= pivot[0]
            answer ^= pivot[1]
    assert wanted == 0
    return answer


@pytest.mark.skipif(os.name == "nt", reason="the stand-in is a shell script")
def test_one_member_is_handed_to_diffoscope(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The stand-in keeps what it was given and ends as diffoscope does."""
    program = tmp_path / "bin/diffoscope"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\ncat "$1" "$2" > {tmp_path}/seen\nexit 1\n', "utf-8")
    program.chmod(0o755)
    one = make_wheel(tmp_path / "a", {"a.py": b"x = 1\n"}, version="1.0.1")
    two = make_wheel(tmp_path / "b", {"a.py": b"x = 2\n"}, version="1.0.2")
    monkeypatch.setenv("PATH", "")
    missing = CliRunner().invoke(command, [str(one), str(two), "--diffoscope", "a.py"])
    assert isinstance(missing.exception, MissingToolError)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
    assert CliRunner().invoke(command, [str(one), str(two), "--diffoscope", "a.py"]).exit_code == 1
    assert (tmp_path / "seen").read_bytes() == b"x = 1\nx = 2\n"
    member = "tensorflow_cpu-{version}.dist-info/WHEEL"
    assert CliRunner().invoke(command, [str(one), str(two), "--diffoscope", member]).exit_code == 1
    none = CliRunner().invoke(command, [str(one), str(two), "--diffoscope", "none"])
    assert isinstance(none.exception, UsageError)
