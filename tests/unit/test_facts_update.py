"""`tfenv facts update` against a package index of our own on the loopback interface."""

from __future__ import annotations

import io
import subprocess
import sys
from collections.abc import Iterator
from http.client import HTTPMessage
from pathlib import Path
from typing import Any, TypeVar, cast

import msgspec
import pytest
from click.testing import CliRunner

from tests.unit.index_server import (
    PADDING,
    Index,
    build_info,
    document,
    entry,
    metadata,
    serving,
    wheel,
)
from tfenv import facts
from tfenv.cli.facts import command
from tfenv.errors import DownloadError, FileFormatError, TfenvError, UsageError
from tfenv.facts import schema, table
from tfenv.facts.check import check
from tfenv.facts.update import UPDATERS, cuda_arch, lacking, listing, opened, ranges, wheels
from tfenv.facts.update import index as asked

_Row = TypeVar("_Row", bound=schema.Row)

TAG = "manylinux_2_28_x86_64"
CUDA = build_info(
    cpu_compiler="clang",
    cuda_compute_capabilities=["sm_80", "sm_90", "compute_120"],
    cuda_version="12.9.1",
    cudnn_version="9",
    is_cuda_build=True,
    is_rocm_build=False,
    is_tensorrt_build=False,
)
CPU = build_info(is_cuda_build=False, is_rocm_build=False, is_tensorrt_build=False)
BUILD_INFO = "tensorflow/python/platform/build_info.py"
METADATA = "tensorflow-2.22.0.dist-info/METADATA"


@pytest.fixture
def server() -> Iterator[Index]:
    with serving() as running:
        yield running


def update(server: Index, *arguments: str) -> dict[str, Any]:
    """The report of every table, by name."""
    run = CliRunner().invoke(command, ["update", "--index", server.address, "--json", *arguments])
    assert run.exit_code == 0, run.output
    return {report["table"]: report for report in msgspec.json.decode(run.output)["tables"]}


def changes(server: Index, *arguments: str) -> list[tuple[str, str, str]]:
    """Table, kind and key of every change."""
    return [
        (name, change["kind"], change["key"])
        for name, report in update(server, *arguments).items()
        for change in report["changes"]
    ]


def written(folder: Path, kind: type[_Row]) -> tuple[_Row, ...]:
    """The rows of a table that was written."""
    name = next(name for name, row in schema.TABLES.items() if row is kind)
    path = folder / f"{name}.toml"
    return cast("tuple[_Row, ...]", facts.parse(name, path.read_text("utf-8")))


def release(server: Index) -> None:
    """Publish TensorFlow 2.22.0: a CUDA wheel, a CPU wheel and a stub."""
    asks = metadata(
        "numpy<3,>=2.1",
        'keras>=3.12; python_version < "3.15"',
        "tomlkit<1",
        'nvidia-cudnn-cu12>=9; extra == "and-cuda"',
        'tensorflow-intel==2.22.0; platform_system == "Windows"',
    )
    for python in ("cp311", "cp314"):
        data = wheel({BUILD_INFO: CUDA, METADATA: asks}, PADDING)
        server.upload("tensorflow", f"tensorflow-2.22.0-{python}-{python}-{TAG}.whl", data)
    data = wheel({BUILD_INFO: CPU, METADATA: asks}, PADDING)
    windows = "2.22.0-cp314-cp314-win_amd64.whl"
    server.upload("tensorflow-intel", f"tensorflow_intel-{windows}", data)
    server.upload("tensorflow", f"tensorflow-{windows}", wheel({METADATA: asks}))
    server.add("tensorflow", entry("tensorflow-2.23.0rc1-cp314-cp314-win_amd64.whl"))


def test_nothing_new_changes_nothing(server: Index, tmp_path: Path) -> None:
    assert changes(server, "-o", str(tmp_path)) == []
    assert list(tmp_path.iterdir()) == []


class TestNewRelease:
    """A release that the tables do not have."""

    def test_every_table_that_the_index_proves_gets_its_row(
        self, server: Index, tmp_path: Path
    ) -> None:
        release(server)
        assert changes(server, "-o", str(tmp_path)) == [
            ("wheels", "new", "tensorflow 2.22.0 linux-x86_64"),
            ("wheels", "new", "tensorflow 2.22.0 windows-x86_64"),
            ("wheels", "new", "tensorflow-intel 2.22.0 windows-x86_64"),
            ("sources", "new", "2.22.0"),
            ("bazel-bounds", "new", "2.22.0"),
            ("requires", "new", "2.22.0"),
            ("build-info", "new", "tensorflow 2.22.0 linux-x86_64"),
            ("build-info", "new", "tensorflow-intel 2.22.0 windows-x86_64"),
            ("cuda-pairs", "new", "==2.22.* 12.9 9"),
        ]
        linux, stub, intel = (r for r in written(tmp_path, schema.Wheel) if r.version == "2.22.0")
        assert (linux.variant, linux.pythons) == ("cuda", ["3.11", "3.14"])
        assert (linux.tag, linux.date, linux.note) == (TAG, "2027-03-02", "")
        assert (stub.stub, stub.real, stub.note) == (True, "tensorflow-intel", "")
        assert (intel.variant, intel.stub) == ("cpu", False)
        old = [r for r in written(tmp_path, schema.Wheel) if r.version != "2.22.0"]
        assert old == list(facts.rows(schema.Wheel))
        info = written(tmp_path, schema.BuildInfo)[-2]
        assert (info.cuda, info.cudnn, info.compiler) == ("12.9.1", "9", "clang")
        assert info.capabilities == ["sm_80", "sm_90", "compute_120"]

    def test_what_its_metadata_asks_for_is_a_row_and_the_news_are_named(
        self, server: Index, tmp_path: Path
    ) -> None:
        release(server)
        (change,) = update(server, "-o", str(tmp_path))["requires"]["changes"]
        (row,) = (r for r in written(tmp_path, schema.Requires) if r.version == "2.22.0")
        assert row.requires == ['keras>=3.12; python_version < "3.15"', "numpy<3,>=2.1"]
        assert change["what"] == ", ".join(row.requires)

    def test_what_is_not_proven_is_marked_and_listed_for_a_person(
        self, server: Index, tmp_path: Path
    ) -> None:
        release(server)
        reports = update(server, "-o", str(tmp_path))
        source = written(tmp_path, schema.Source)[-1]
        assert (source.sha256, source.commit) == ("", "")
        assert source.note.startswith("not known: sha256")
        bound = written(tmp_path, schema.BazelBound)[-1]
        assert (bound.min, bound.max, bound.file) == ("", "", "")
        assert any("2.22.0: sha256" in text for text in reports["sources"]["wanted"])
        assert any("2.22.0: the bounds" in text for text in reports["bazel-bounds"]["wanted"])
        assert "2.22 cuda" in reports["tested"]["wanted"]
        assert "Python 3.14" in reports["cpython"]["wanted"] or any(
            row.version.startswith("3.14.") for row in facts.rows(schema.CPython)
        )

    def test_the_tables_hold_together_afterwards_and_a_second_run_changes_nothing(
        self, server: Index, tmp_path: Path
    ) -> None:
        release(server)
        assert changes(server, "-o", str(tmp_path))
        tables = {
            schema.TABLES[path.stem]: facts.parse(path.stem, path.read_text("utf-8"))
            for path in tmp_path.iterdir()
        }
        assert check(tables) == []
        everything = {kind: tables.get(kind, facts.rows(kind)) for kind in schema.TABLES.values()}
        again = asked.Index(server.address, "2027-03-03")
        for name, run in UPDATERS.items():
            assert run(everything, again).changes == (), name

    def test_it_is_a_target_then(self, server: Index, tmp_path: Path) -> None:
        """With the tables as they were written, in a process of its own."""
        release(server)
        update(server, "-o", str(tmp_path))
        for path in Path(facts.__file__).parent.glob("*.toml"):
            if not (tmp_path / path.name).exists():
                (tmp_path / path.name).write_bytes(path.read_bytes())
        script = "import pathlib, sys; from tfenv import facts; from tfenv.__main__ import main\n"
        script += "facts._FOLDER = pathlib.Path(sys.argv.pop(1)); main()"
        command = [sys.executable, "-c", script, str(tmp_path), "show", "--json"]
        cuda = subprocess.run([*command, "2.22.0-cuda"], capture_output=True, check=True)
        shown = msgspec.json.decode(cuda.stdout)
        assert shown["toolchain"]["cuda"]["value"] == "12.9.1"
        assert "says that it was built with CUDA 12.9.1" in shown["toolchain"]["cuda"]["reason"]
        assert "documents no tested build" in shown["toolchain"]["compiler"]["reason"]
        assert "tensorflow" in {item["name"] for item in shown["unpinned"]}
        assert "numpy" in shown["toolchain"]
        script = script.replace("main()", "print(render(entries()))").replace(
            "from tfenv.__main__ import main",
            "from tfenv.listing import render; from tfenv.toolchain.catalogue import entries",
        )
        command = [sys.executable, "-c", script, str(tmp_path)]
        listed = subprocess.run(command, capture_output=True, check=True, text=True).stdout
        (line,) = (row for row in listed.splitlines() if row.startswith("2.22.0-cuda\t"))
        cells = dict(zip(listed.splitlines()[0].split("\t"), line.split("\t"), strict=True))
        assert (cells["pythons"], cells["bazel"], cells["cuda"]) == ("3.11,3.14", "7.4.1", "12.9")

    def test_only_the_ends_of_its_wheels_are_fetched(self, server: Index) -> None:
        release(server)
        update(server)
        assert 0 < server.sent < PADDING

    def test_a_wheel_that_does_not_say_what_it_is_is_marked(
        self, server: Index, tmp_path: Path
    ) -> None:
        data = wheel({METADATA: metadata("numpy")}, PADDING)
        server.upload("tensorflow", f"tensorflow-2.22.0-cp314-cp314-{TAG}.whl", data)
        name = "tensorflow-2.22.0-cp314-cp314-macosx_12_0_arm64.whl"
        server.upload("tensorflow", name, wheel({METADATA: metadata("numpy")}))
        reports = update(server, "-o", str(tmp_path))
        linux, stub = (r for r in written(tmp_path, schema.Wheel) if r.version == "2.22.0")
        assert linux.note.startswith("not known: whether it is a CUDA build")
        assert stub.note.startswith("not known: which distribution")
        assert len([t for t in reports["wheels"]["wanted"] if t.startswith("2.22.0")]) == 2
        assert reports["build-info"]["changes"] == []


def test_a_late_upload_and_a_yank_change_a_row(server: Index, tmp_path: Path) -> None:
    server.add(
        "tensorflow-cpu",
        entry("tensorflow_cpu-2.21.0-cp314-cp314-win_amd64.whl", 99_000_000),
    )
    page = msgspec.json.decode(server.pages["tensorflow-intel"])
    for file in page["files"]:
        if "-2.18.0-" in file["filename"]:
            file["yanked"] = "broken"
    server.pages["tensorflow-intel"] = msgspec.json.encode(page)
    late, yank = update(server, "-o", str(tmp_path))["wheels"]["changes"]
    assert (late["kind"], late["key"]) == ("changed", "tensorflow-cpu 2.21.0 windows-x86_64")
    assert "'3.13', '3.14']" in late["what"]
    assert (yank["kind"], yank["what"]) == ("changed", "yanked: broken")
    rows = written(tmp_path, schema.Wheel)
    (row,) = (
        r
        for r in rows
        if (r.distribution, r.version, r.platform) == ("tensorflow-cpu", "2.21.0", "windows-x86_64")
    )
    assert sum("yanked: broken" in r.note for r in rows) == 1
    assert row.pythons[-1] == "3.14"
    assert row.source.endswith("; variant from the wheel's build_info")


def test_what_is_gone_is_kept_and_named(server: Index, tmp_path: Path) -> None:
    page = msgspec.json.decode(server.pages["tensorflow-gpu"])
    page["files"] = [f for f in page["files"] if "-1.4.0-" not in f["filename"]]
    server.pages["tensorflow-gpu"] = msgspec.json.encode(page)
    found = changes(server, "-o", str(tmp_path))
    assert {(table, kind) for table, kind, _ in found} == {("wheels", "gone")}
    assert all("tensorflow-gpu 1.4.0" in key for _, _, key in found)
    assert written(tmp_path, schema.Wheel) == facts.rows(schema.Wheel)


def test_a_new_cuda_brings_its_host_compilers(server: Index, tmp_path: Path) -> None:
    header = "#if __GNUC__ > 17\n#error -- unsupported GNU version!\n"
    header += "#error -- clang version must be less than 24 and greater than 3.2 .\n"
    header += "#if _MSC_VER < 1930 || _MSC_VER >= 1970\n"
    for version, text in (("14.0.7", "nothing"), ("14.0.11", header)):
        server.upload(
            "nvidia-cuda-crt",
            f"nvidia_cuda_crt-{version}-py3-none-manylinux_2_28_x86_64.whl",
            wheel({"nvidia/cu14/include/crt/host_config.h": text}),
        )
    assert changes(server, "-o", str(tmp_path)) == [("cuda-arch", "new", "14.0")]
    row = written(tmp_path, schema.CudaArch)[-1]
    assert (row.gcc_max, row.clang, row.msc_ver) == ("17", ">3.2,<24", ">=1930,<1970")
    assert row.sm == []
    assert row.note.startswith("not known: compute capabilities")
    assert check({schema.CudaArch: written(tmp_path, schema.CudaArch)}) == []
    assert cuda_arch.read("") == ("", "", "")


def test_a_new_tag_and_a_new_pip(server: Index, tmp_path: Path) -> None:
    policy = [{"name": "manylinux_2_43", "symbol_versions": {"x86_64": {"GLIBCXX": ["3.4.34"]}}}]
    data = wheel({"auditwheel/policy/manylinux-policy.json": msgspec.json.encode(policy).decode()})
    server.upload("auditwheel", "auditwheel-7.0-py3-none-any.whl", data)
    pip = wheel({})
    server.upload("pip", "pip-24.0.1-py3-none-any.whl", pip, **{"requires-python": ">=3.7"})
    server.upload("pip", "pip-99.0-py3-none-any.whl", pip, **{"requires-python": ">=3.14"})
    assert changes(server, "-o", str(tmp_path)) == [
        ("pip", "changed", ">=3.7,<3.8"),
        ("manylinux", "new", "2.43 x86_64"),
    ]
    assert written(tmp_path, schema.Manylinux)[-1].glibcxx == "3.4.34"
    assert written(tmp_path, schema.Installer)[2].version == "24.0.1"


class TestEveryTable:
    """`upkeep.toml` says how each table is kept up."""

    def test_an_updater_for_each_that_the_index_proves(self) -> None:
        rows = {row.table: row for row in facts.rows(schema.Upkeep)}
        assert rows.keys() == schema.TABLES.keys()
        assert {name for name, row in rows.items() if row.by == "index"} == UPDATERS.keys()

    @pytest.mark.parametrize("name", schema.TABLES)
    def test_its_header_says_the_same(self, name: str) -> None:
        keeper = table.header(name).partition("Kept up by:")[2]
        assert ("tfenv facts update" in keeper) == (name in UPDATERS)

    def test_each_is_reported(self, server: Index) -> None:
        run = CliRunner().invoke(command, ["update", "--index", server.address])
        lines = [line.split()[0] for line in run.output.splitlines() if line[:1].strip()]
        assert lines == list(schema.TABLES)
        assert "bazel           not provable from an index: " in run.output
        assert "look at github.com/bazelbuild/bazel/releases" in run.output
        assert "wheels          nothing new" in run.output

    def test_one_without_a_keeper_is_named(self) -> None:
        rows = facts.rows(schema.Upkeep)
        assert any(
            "no row says how wheels.toml" in p.what for p in check({schema.Upkeep: rows[1:]})
        )
        wrong = msgspec.structs.replace(rows[0], table="wheel")
        assert any("no such table" in p.what for p in check({schema.Upkeep: (*rows, wrong)}))


def test_what_others_show_to_be_needed_is_wanted() -> None:
    tables: dict[type[schema.Row], tuple[schema.Row, ...]] = {
        kind: facts.rows(kind) for kind in schema.TABLES.values()
    }
    tables[schema.CudaToolkit] = tuple(
        r for r in facts.rows(schema.CudaToolkit) if not r.version.startswith("12.5.")
    )
    tables[schema.CudnnArchive] = ()
    tables[schema.CPython] = ()
    assert "CUDA 12.5" in lacking.wanted("cuda", tables)
    assert "cuDNN 9" in lacking.wanted("cudnn", tables)
    assert "Python 3.13" in lacking.wanted("cpython", tables)
    assert lacking.wanted("gpus", tables) == ()


@pytest.mark.parametrize(
    "name",
    [
        "../../etc/passwd",
        "tensorflow-2.22.0-cp314-cp314-win_amd64.whl.exe",
        "tensorflow-2.22.0-cp27-cp27mu-manylinux1_x86_64.whl",
        "tensorflow-2.22.0-py3-none-any.whl",
        "tensorflow-2.22.0-cp314-cp314-manylinux_2_17_s390x.whl",
        "tensorflow-1.3.0-cp36-cp36m-win_amd64.whl",
        "tensorflow-2.22.0rc1-cp314-cp314-win_amd64.whl",
        "tensorflow-2.22.0+evil-cp314-cp314-win_amd64.whl",
        "tensorflow_evil-2.22.0-cp314-cp314-win_amd64.whl",
        "tensorflow-two-cp314-cp314-win_amd64.whl",
        "tensorflow-2.22.0.tar.gz",
        "",
    ],
)
def test_other_files_make_no_row(name: str) -> None:
    files = listing.read("tensorflow", document([entry(name)]))
    assert wheels.read("tensorflow", files, "2027-03-02") == ()


class TestHostileIndex:
    """Answers that are not what they should be: exit code 4 or 2, and nothing is written."""

    def refused(self, server: Index, folder: Path) -> TfenvError:
        run = CliRunner().invoke(command, ["update", "--index", server.address, "-o", str(folder)])
        assert isinstance(run.exception, TfenvError), run.output
        assert list(folder.iterdir()) == []
        return run.exception

    @pytest.mark.parametrize(
        "page",
        [b"<html>", b"[]", b'{"files": [{"filename": "x"}]}', b'{"files": 3}', b"\xff"],
    )
    def test_a_page_of_another_form(self, server: Index, tmp_path: Path, page: bytes) -> None:
        server.pages["tensorflow"] = page
        assert isinstance(self.refused(server, tmp_path), FileFormatError)

    def test_a_page_of_another_kind(self, server: Index, tmp_path: Path) -> None:
        server.kind = "text/html"
        assert "PEP 691" in self.refused(server, tmp_path).fix

    def test_a_page_that_does_not_end(
        self, server: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(asked, "_MOST", 1000)
        assert "more than 1000 bytes" in self.refused(server, tmp_path).why

    def test_an_index_without_tensorflow(self, server: Index, tmp_path: Path) -> None:
        del server.pages["tensorflow-gpu"]
        assert "did not list tensorflow-gpu" in self.refused(server, tmp_path).what

    def test_an_index_that_invents_releases(self, server: Index, tmp_path: Path) -> None:
        names = (f"tensorflow-9.{n}.0-cp314-cp314-{TAG}.whl" for n in range(301))
        server.add("tensorflow", *(entry(name) for name in names))
        assert "lists 301 wheels" in self.refused(server, tmp_path).what

    def test_an_index_without_the_other_packages_says_so(self, server: Index) -> None:
        del server.pages["auditwheel"], server.pages["pip"]
        reports = update(server)
        assert reports["manylinux"]["state"] == "the index does not have auditwheel"
        assert reports["pip"]["state"] == "the index does not have pip"

    def test_a_small_file_with_another_hash(self, server: Index, tmp_path: Path) -> None:
        release(server)
        name = "tensorflow-2.22.0-cp314-cp314-win_amd64.whl"
        server.files[name] = wheel({METADATA: metadata("tensorflow-evil")})
        error = self.refused(server, tmp_path)
        assert (error.kind, error.exit_code) == ("hash-mismatch", 4)
        assert name in error.what

    def test_a_kept_file_with_another_hash(self, server: Index, tmp_path: Path) -> None:
        page = msgspec.json.decode(server.pages["pip"])
        page["files"][0]["hashes"]["sha256"] = "0" * 64
        server.pages["pip"] = msgspec.json.encode(page)
        assert self.refused(server, tmp_path).kind == "hash-mismatch"

    @pytest.mark.parametrize("data", [b"junk" * 2_000_000, b"", b"PK\x05\x06" + b"\0" * 6_000_000])
    def test_a_wheel_that_is_none(self, server: Index, tmp_path: Path, data: bytes) -> None:
        name = f"tensorflow-2.22.0-cp314-cp314-{TAG}.whl"
        server.files[name] = data
        server.add("tensorflow", entry(name, max(len(data), PADDING)))
        self.refused(server, tmp_path)

    def test_an_index_without_ranges(self, server: Index, tmp_path: Path) -> None:
        release(server)
        server.ranges = False
        assert "ranges of bytes" in self.refused(server, tmp_path).why or "more than" in (
            self.refused(server, tmp_path).why
        )

    @pytest.mark.parametrize("place", ["file:///etc/passwd", "ftp://127.0.0.1/x", "data:,x"])
    def test_a_file_that_is_elsewhere(self, server: Index, tmp_path: Path, place: str) -> None:
        release(server)
        server.redirect = place
        assert isinstance(self.refused(server, tmp_path), DownloadError)
        server.redirect = ""
        name = "tensorflow-2.22.0-cp315-cp315-win_amd64.whl"
        server.add("tensorflow", entry(name, 2000) | {"url": place})
        error = self.refused(server, tmp_path)
        assert "not one of the web" in error.why

    def test_a_redirect_on_the_web_is_followed(self, server: Index) -> None:
        release(server)
        with serving() as other:
            other.files = dict(server.files)
            name = f"tensorflow-2.22.0-cp314-cp314-{TAG}.whl"
            server.redirect = other.address.replace("/simple", f"/files/{name}")
            file = next(
                f
                for f in asked.Index(server.address, "2027-03-03").files("tensorflow")
                if f.filename == name
            )
            text = asked.Index(server.address, "2027-03-03").member(
                "tensorflow", file, BUILD_INFO.replace(".", r"\.")
            )
        assert text == CUDA

    def test_a_password_goes_to_the_index_alone(self, server: Index) -> None:
        release(server)
        server.secret = "Basic bWU6cEBzcw=="  # me:p@ss
        place = server.address.replace("127.0.0.1", "me:p%40ss@127.0.0.1")
        with serving() as other:
            other.files = dict(server.files)
            name = f"tensorflow-2.22.0-cp314-cp314-{TAG}.whl"
            index = asked.Index(place, "2027-03-03")
            file = next(f for f in index.files("tensorflow") if f.filename == name)
            pattern = BUILD_INFO.replace(".", r"\.")
            assert index.member("tensorflow", file, pattern) == CUDA
            assert server.heard == {server.secret}
            elsewhere = other.address.replace("/simple", f"/files/{name}")
            moved = msgspec.structs.replace(file, url=elsewhere)
            assert asked.Index(place, "x").member("tensorflow", moved, pattern) == CUDA
            server.redirect = elsewhere
            assert asked.Index(place, "x").member("tensorflow", file, pattern) == CUDA
            assert other.heard == {""}
        with pytest.raises(DownloadError) as caught:
            asked.Index(server.address, "x").files("tensorflow")
        assert caught.value.why == "HTTP status 401"

    def test_pip_s_own_setting_is_taken(
        self, server: Index, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for name in ("TFENV_INDEX", "UV_DEFAULT_INDEX", "UV_INDEX_URL", "UV_CONFIG_FILE"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("PIP_INDEX_URL", server.address)
        run = CliRunner().invoke(command, ["update", "--json"])
        assert run.exit_code == 0, run.output

    def test_https_is_never_left(self) -> None:
        import urllib.request

        request = urllib.request.Request("https://one.example/x")
        with pytest.raises(ValueError, match="not as safe"):
            asked._Redirects().redirect_request(
                request, io.BytesIO(), 302, "", HTTPMessage(), "http://one.example/x"
            )

    def test_an_index_that_is_not_there_is_not_quoted(self) -> None:
        with pytest.raises(DownloadError) as caught:
            asked.ask("http://user:secret@127.0.0.1:1/simple", "tensorflow")
        assert "secret" not in " ".join(caught.value.lines())


class TestMembers:
    """One member of an archive that lies elsewhere."""

    def read(self, data: bytes, pattern: str = r"a\.txt") -> str | None:
        return ranges.member(lambda a, b: data[a : b + 1], len(data), pattern, "x.whl")

    def test_it_is_read(self) -> None:
        data = wheel({"a.txt": "ü", "b.txt": "b"}, 100_000)
        assert self.read(data) == "ü"
        assert self.read(data, "c") is None

    def test_what_cannot_be_trusted(self) -> None:
        good = bytearray(wheel({"a.txt": "text " * 100}))
        changed = good.copy()
        changed[45] ^= 0xFF
        bomb = wheel({"a.txt": "0" * (2 << 20)})
        for data in (changed, bomb, good[:60], good[:-3]):
            with pytest.raises(FileFormatError):
                self.read(bytes(data))
        with pytest.raises(FileFormatError, match="cannot be read"):
            ranges.member(lambda a, b: b"", len(good), r"a\.txt", "x.whl")
        two = wheel({"a.txt": "1", "b/a.txt": "2"})
        with pytest.raises(FileFormatError) as caught:
            self.read(two, r"(.*/)?a\.txt")
        assert "2 members fit" in caught.value.why

    def test_no_more_than_a_budget_is_fetched(self) -> None:
        fetched = []

        def fetch(first: int, last: int) -> bytes:
            fetched.append(last - first + 1)
            return b"PK\x01\x02" + b"\0" * (last - first - 3)

        with pytest.raises(FileFormatError):
            ranges.member(fetch, 1 << 40, "a", "x.whl")
        assert sum(fetched) <= 32 << 20

    def test_places_of_a_range_file(self) -> None:
        file = ranges.RangeFile(lambda a, b: b"x" * (b - a + 1), 10)
        assert file.seek(-3, 2) == 7
        assert file.read() == b"xxx"
        assert file.read() == b""
        with pytest.raises(ValueError, match="before"):
            file.seek(-1)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "build_info = 3",
        "build_info = f()",
        "build_info = f([('is_cuda_build', __import__('os'))])",
        "build_info = f([('is_cuda_build', 'yes')])",
        "build_info = f(" + "[" * 5000,
        "x" * 70_000,
        "build_info = f([1, 2])",
    ],
)
def test_a_build_info_of_another_form_says_nothing(text: str) -> None:
    assert opened.parse(text) is None


def test_the_libraries_of_windows_name_their_version() -> None:
    from tfenv.facts.update.build_info import _number

    assert [_number(t) for t in ("64_112", "64_8", "64_110", "11.2", "", "evil")] == [
        "11.2",
        "8",
        "11.0",
        "11.2",
        "",
        "",
    ]


def test_the_index_is_a_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    assert asked.configured("https://one.example/simple/") == "https://one.example/simple"
    monkeypatch.setenv("TFENV_INDEX", "https://two.example/simple")
    assert asked.configured() == "https://two.example/simple"
    for other in ("file:///etc", "ftp://x/simple", "one"):
        with pytest.raises(UsageError):
            asked.configured(other)


@pytest.mark.parametrize("name", schema.TABLES)
def test_rendering_a_table_gives_the_same_rows(name: str) -> None:
    rows = facts.rows(schema.TABLES[name])
    text = table.render(table.header(name), rows)
    assert facts.parse(name, text) == rows
    assert text.startswith("# ")


@pytest.mark.parametrize("name", UPDATERS)
def test_rendering_leaves_the_shipped_tables_as_they_are(name: str) -> None:
    from importlib import resources

    text = resources.files("tfenv.facts").joinpath(f"{name}.toml").read_text("utf-8")
    assert table.render(table.header(name), facts.rows(schema.TABLES[name])) == text


@pytest.mark.parametrize(
    "note", ['say "hello"', "back\\slash", "tab\tand \x1b[2J", "é \U0001f600", "}"]
)
def test_rendering_escapes_what_toml_needs(note: str) -> None:
    row = schema.CPython(version="3.9.0", url="https://x/y", sha256="0" * 64, source="s", note=note)
    text = table.render("# x", [row])
    assert facts.parse("cpython", text) == (row,)
    assert text.count("\n") == 5
