"""`tfenv facts update` against a package index of our own on the loopback interface."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner

from tfenv import facts
from tfenv.cli.facts import command
from tfenv.errors import DownloadError, FileFormatError, UsageError
from tfenv.facts import schema, table
from tfenv.facts.update import index as asked
from tfenv.facts.update import wheels

Listing = dict[str, Any]


def entry(name: str, size: int = 300_000_000, day: str = "2027-03-02", **more: Any) -> Listing:
    """One file of a listing."""
    return {"filename": name, "size": size, "upload-time": f"{day}T10:00:00.5Z", "url": "x", **more}


def listed(row: schema.Wheel) -> list[Listing]:
    """The files that give this row back."""
    tags = row.note.partition("tags: ")[2].partition(";")[0].split(", ")
    stem = row.distribution.replace("-", "_")
    more = {"requires-python": row.requires_python} if row.requires_python else {}
    found = []
    for python in row.pythons:
        minor = python.partition(".")[2]
        name = f"{stem}-{row.version}-cp3{minor}-cp3{minor}-{row.tag}.whl"
        found.append(entry(name, row.size, row.date, **more))
    spare = [tag for tag in tags if tag and tag != row.tag]
    minor = row.pythons[0].partition(".")[2]
    found += [
        entry(f"{stem}-{row.version}-cp3{minor}-cp3{minor}m-{tag}.whl", 1, row.date)
        for tag in spare
        if len(row.pythons) > 1
    ]
    return found


def document(files: list[Listing]) -> bytes:
    return msgspec.json.encode({"meta": {"api-version": "1.1"}, "name": "x", "files": files})


class _Index(ThreadingHTTPServer):
    """Serves one listing per distribution."""

    pages: dict[str, bytes]
    kind: str = asked.ACCEPT


class _Handler(BaseHTTPRequestHandler):
    server: _Index

    def do_GET(self) -> None:
        page = self.server.pages.get(self.path.strip("/").rpartition("/")[2])
        self.send_response(200 if page is not None else 404)
        self.send_header("Content-Type", self.server.kind)
        self.send_header("Content-Length", str(len(page or b"")))
        self.end_headers()
        self.wfile.write(page or b"")

    def log_message(self, format: str, *args: Any) -> None:
        """Keep the test's output clean."""


@pytest.fixture
def server() -> Iterator[_Index]:
    """An index that lists exactly what the shipped table has."""
    pages: dict[str, list[Listing]] = {name: [] for name in wheels.DISTRIBUTIONS}
    for row in facts.rows(schema.Wheel):
        pages[row.distribution] += listed(row)
    with _Index(("127.0.0.1", 0), _Handler) as running:
        running.pages = {name: document(files) for name, files in pages.items()}
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield running
        running.shutdown()
        thread.join()


def address(server: _Index) -> str:
    return f"http://127.0.0.1:{server.server_address[1]}/simple"


def add(server: _Index, distribution: str, *files: Listing) -> None:
    """Upload files to the index."""
    page = msgspec.json.decode(server.pages[distribution])
    page["files"] += files
    server.pages[distribution] = msgspec.json.encode(page)


def update(server: _Index, *arguments: str) -> Any:
    run = CliRunner().invoke(command, ["update", "--index", address(server), "--json", *arguments])
    assert run.exit_code == 0, run.output
    return msgspec.json.decode(run.output)["changes"]


def test_nothing_new_changes_nothing(server: _Index, tmp_path: Path) -> None:
    assert update(server, "-o", str(tmp_path)) == []
    assert list(tmp_path.iterdir()) == []


def test_a_new_release_becomes_a_row(server: _Index, tmp_path: Path) -> None:
    tag = "manylinux_2_28_x86_64"
    add(
        server,
        "tensorflow",
        entry(f"tensorflow-2.22.0-cp314-cp314-{tag}.whl", 640_000_000),
        entry(f"tensorflow-2.22.0-cp39-cp39-{tag}.whl", 630_000_000, "2027-03-01"),
        entry("tensorflow-2.22.0-cp314-cp314-win_amd64.whl", 2_000),
        entry("tensorflow-2.22.0rc1-cp314-cp314-win_amd64.whl"),
    )
    changes = update(server, "-o", str(tmp_path))
    assert [(c["kind"], c["version"], c["platform"]) for c in changes] == [
        ("new", "2.22.0", "linux-x86_64"),
        ("new", "2.22.0", "windows-x86_64"),
    ]
    rows = facts.parse("wheels", (tmp_path / "wheels.toml").read_text("utf-8"))
    linux, windows = (r for r in rows if isinstance(r, schema.Wheel) and r.version == "2.22.0")
    assert linux.pythons == ["3.9", "3.14"]
    assert (linux.date, linux.tag, linux.size) == ("2027-03-01", tag, 640_000_000)
    assert linux.variant == "cuda"
    assert "variant as of 2.21.0; this wheel was not opened" in linux.note
    assert windows.stub
    assert "not read" in windows.note
    assert [r for r in rows if r not in (linux, windows)] == list(facts.rows(schema.Wheel))


def test_a_late_upload_and_a_yank_change_a_row(server: _Index, tmp_path: Path) -> None:
    add(
        server,
        "tensorflow-cpu",
        entry("tensorflow_cpu-2.21.0-cp314-cp314-win_amd64.whl", 99_000_000),
    )
    page = msgspec.json.decode(server.pages["tensorflow-intel"])
    for file in page["files"]:
        if "-2.18.0-" in file["filename"]:
            file["yanked"] = "broken"
    server.pages["tensorflow-intel"] = msgspec.json.encode(page)
    late, yank = update(server, "-o", str(tmp_path))
    assert (late["kind"], late["distribution"]) == ("changed", "tensorflow-cpu")
    assert "'3.13', '3.14']" in late["what"]
    assert (yank["kind"], yank["what"]) == ("changed", "yanked: broken")
    rows = facts.parse("wheels", (tmp_path / "wheels.toml").read_text("utf-8"))
    (row,) = (
        r
        for r in rows
        if isinstance(r, schema.Wheel)
        and (r.distribution, r.version) == ("tensorflow-cpu", "2.21.0")
        if r.platform == "windows-x86_64"
    )
    assert sum("yanked: broken" in r.note for r in rows) == 1
    assert row.pythons[-1] == "3.14"
    assert row.source.endswith("; variant from the wheel's build_info")


def test_what_is_gone_is_kept_and_named(server: _Index, tmp_path: Path) -> None:
    page = msgspec.json.decode(server.pages["tensorflow-gpu"])
    page["files"] = [f for f in page["files"] if "-1.4.0-" not in f["filename"]]
    server.pages["tensorflow-gpu"] = msgspec.json.encode(page)
    changes = update(server, "-o", str(tmp_path))
    assert {(c["kind"], c["version"]) for c in changes} == {("gone", "1.4.0")}
    rows = facts.parse("wheels", (tmp_path / "wheels.toml").read_text("utf-8"))
    assert rows == facts.rows(schema.Wheel)


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
    assert wheels.read("tensorflow", document([entry(name)]), "2027-03-02") == ()


@pytest.mark.parametrize(
    "page",
    [b"", b"<html>", b"[]", b'{"files": [{"filename": "x"}]}', b'{"files": 3}', b"\xff"],
)
def test_a_page_of_another_form_is_an_error(page: bytes) -> None:
    with pytest.raises(FileFormatError):
        wheels.read("tensorflow", page, "2027-03-02")


def test_an_index_that_answers_otherwise(server: _Index) -> None:
    server.kind = "text/html"
    with pytest.raises(DownloadError) as caught:
        asked.ask(address(server), "tensorflow")
    assert "PEP 691" in caught.value.fix
    with pytest.raises(DownloadError) as caught:
        asked.ask(f"{address(server)}", "tensorflow-nowhere")
    assert caught.value.why == "HTTP status 404"


def test_an_index_that_is_not_there_is_not_quoted() -> None:
    with pytest.raises(DownloadError) as caught:
        asked.ask("http://user:secret@127.0.0.1:1/simple", "tensorflow")
    assert "secret" not in " ".join(caught.value.lines())


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


def test_rendering_leaves_the_shipped_wheels_as_they_are() -> None:
    from importlib import resources

    text = resources.files("tfenv.facts").joinpath("wheels.toml").read_text("utf-8")
    assert table.render(table.header("wheels"), facts.rows(schema.Wheel)) == text


@pytest.mark.parametrize(
    "note", ['say "hello"', "back\\slash", "tab\tand \x1b[2J", "é \U0001f600", "}"]
)
def test_rendering_escapes_what_toml_needs(note: str) -> None:
    row = schema.CPython(version="3.9.0", url="https://x/y", sha256="0" * 64, source="s", note=note)
    text = table.render("# x", [row])
    assert facts.parse("cpython", text) == (row,)
    assert text.count("\n") == 5
