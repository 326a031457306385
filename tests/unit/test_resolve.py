"""uv against a small index on loopback: dates, files of the platform, build tools."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
import threading
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tfenv.errors import ConflictError, DownloadError, HashMismatchError
from tfenv.facts.pinned import Pinned, parse, shipped
from tfenv.lock import old_python, resolve
from tfenv.lock.resolve import Request


def wheel(name: str, version: str, requires: str = "") -> bytes:
    """A pure wheel without code."""
    info = f"{name}-{version}.dist-info"
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    metadata += f"Requires-Dist: {requires}\n" if requires else ""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr(f"{info}/METADATA", metadata)
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: x\n")
        archive.writestr(f"{info}/RECORD", "")
    return stream.getvalue()


def sdist(name: str, version: str, pyproject: str | None = None) -> bytes:
    """A source distribution with static metadata."""
    files = {"PKG-INFO": f"Metadata-Version: 2.2\nName: {name}\nVersion: {version}\n"}
    if pyproject is not None:
        files["pyproject.toml"] = pyproject
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as archive:
        for path, text in files.items():
            member = tarfile.TarInfo(f"{name}-{version}/{path}")
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text.encode()))
    return stream.getvalue()


FILES: dict[str, tuple[str, str, bytes]] = {
    name: (project, date, data)
    for project, name, date, data in (
        (
            "tf",
            "tf-1.0-cp37-cp37m-manylinux2010_x86_64.whl",
            "2022-05-01",
            wheel("tf", "1.0", "dep"),
        ),
        ("tf", "tf-1.0-cp37-cp37m-win_amd64.whl", "2022-05-01", wheel("tf", "1.0", "dep")),
        (
            "tf",
            "tf-1.0-cp38-cp38-manylinux2010_x86_64.whl",
            "2022-05-01",
            wheel("tf", "1.0", "dep"),
        ),
        ("dep", "dep-1.0-py3-none-any.whl", "2022-01-01", wheel("dep", "1.0")),
        ("dep", "dep-2.0-py3-none-any.whl", "2023-01-01", wheel("dep", "2.0")),
        (
            "raw",
            "raw-1.0.tar.gz",
            "2022-01-01",
            sdist("raw", "1.0", '[build-system]\nrequires = ["maker>=1"]\n'),
        ),
        ("two", "two-1.0-cp35-cp35m-win_amd64.whl", "2017-01-01", wheel("two", "1.0", "dep16")),
        ("two", "two-1.0-cp36-cp36m-win_amd64.whl", "2017-01-01", wheel("two", "1.0", "dep16")),
        ("dep16", "dep16-1.0-py3-none-any.whl", "2017-01-01", wheel("dep16", "1.0")),
        (
            "six-only",
            "six_only-1.0-cp36-cp36m-win_amd64.whl",
            "2017-01-01",
            wheel("six_only", "1.0"),
        ),
        (
            "tells",
            "tells-1.0-py3-none-any.whl",
            "2017-01-01",
            wheel("tells", "1.0", 'dep16; python_version < "3.6"'),
        ),
        ("newer", "newer-1.0-py3-none-any.whl", "2017-01-01", wheel("newer", "1.0")),
        ("maker", "maker-1.5-py3-none-any.whl", "2022-01-01", wheel("maker", "1.5")),
    )
}


class Index(BaseHTTPRequestHandler):
    """PEP 691, with upload times."""

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        kind, _, name = self.path.strip("/").partition("/")
        if kind == "files" and name in FILES:
            self.answer(FILES[name][2], "application/octet-stream")
        elif kind == "simple" and (page := self.page(name.strip("/"))):
            self.answer(page, "application/vnd.pypi.simple.v1+json")
        else:
            self.send_error(404)

    def page(self, project: str) -> bytes:
        files = [
            {
                "filename": name,
                "url": f"/files/{name}",
                "hashes": {"sha256": hashlib.sha256(data).hexdigest()},
                "size": len(data),
                "upload-time": f"{date}T00:00:00.000000Z",
                **({"requires-python": ">=3.6"} if owner == "newer" else {}),
            }
            for name, (owner, date, data) in FILES.items()
            if owner == project
        ]
        body = {"meta": {"api-version": "1.1"}, "name": project, "files": files, "versions": []}
        return json.dumps(body).encode() if files else b""

    def answer(self, body: bytes, kind: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def index() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Index)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/simple"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(autouse=True)
def own_cache(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """No setting of the user's reaches uv, and loopback needs no proxy."""
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path_factory.mktemp("uv")))
    for name in ("UV_FIND_LINKS", "UV_INDEX", "UV_EXTRA_INDEX_URL", "UV_CONFIG_FILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("UV_NO_CONFIG", "1")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("UV_HTTP_RETRIES", "0")


def request(index: str, *wanted: str, as_of: str = "2022-06-01") -> Request:
    return Request(
        requirements=wanted, python="3.7", platform="linux-x86_64", as_of=as_of, index=index
    )


def test_the_index_is_read_as_it_stood(index: str) -> None:
    old = resolve.resolve(request(index, "tf==1.0")).pins
    assert (old.version_of("tf"), old.version_of("dep")) == ("1.0", "1.0")
    new = resolve.resolve(request(index, "tf==1.0", as_of="2023-06-01")).pins
    assert new.version_of("dep") == "2.0"


def test_one_file_of_the_platform_and_python(index: str) -> None:
    (found,) = (p for p in resolve.resolve(request(index, "tf==1.0")).pins.pins if p.name == "tf")
    assert found.file == "tf-1.0-cp37-cp37m-manylinux2010_x86_64.whl"
    assert found.sha256 == hashlib.sha256(FILES[found.file][2]).hexdigest()
    assert found.size == len(FILES[found.file][2])


def test_the_build_tools_of_source_distributions_are_locked(index: str) -> None:
    locked = resolve.lock(request(index, "raw==1.0"), "title", {"requirement": "raw==1.0"})
    assert "raw-1.0.tar.gz" in locked.text
    assert "maker==1.5 --hash=sha256:" in locked.build_text
    assert "127.0.0.1" not in locked.text + locked.build_text


def test_what_cannot_be_satisfied_is_a_conflict(index: str) -> None:
    with pytest.raises(ConflictError) as caught:
        resolve.resolve(request(index, "tf==1.0", "dep==2.0"))
    assert caught.value.exit_code == 3


def test_an_index_that_is_not_there_is_a_failed_download() -> None:
    with pytest.raises(DownloadError) as caught:
        resolve.resolve(request("http://127.0.0.1:9/simple", "tf==1.0"))
    assert caught.value.exit_code == 4


def test_a_file_that_is_not_what_was_announced(index: str) -> None:
    url = index.replace("/simple", "/files/raw-1.0.tar.gz")
    with pytest.raises(HashMismatchError):
        resolve.build_requires(Pinned("raw", "1.0", "raw-1.0.tar.gz", 1, "0" * 64), url)


def test_an_address_that_is_no_web_address_is_refused() -> None:
    with pytest.raises(DownloadError):
        resolve.build_requires(Pinned("raw", "1.0", "raw-1.0.tar.gz", 1, "0" * 64), "ftp://x/y")


def test_without_a_pyproject_the_old_tools_build(index: str) -> None:
    data = sdist("old", "1.0")
    FILES["old-1.0.tar.gz"] = ("old", "2020-01-01", data)
    url = index.replace("/simple", "/files/old-1.0.tar.gz")
    pin = Pinned("old", "1.0", "old-1.0.tar.gz", len(data), hashlib.sha256(data).hexdigest())
    assert resolve.build_requires(pin, url) == resolve.LEGACY_BUILD_REQUIRES


def test_tags_prefer_the_newest_manylinux_that_fits() -> None:
    ranks = resolve.tag_ranks(request("", "x"))
    assert "cp37-cp37m-manylinux_2_28_x86_64" not in ranks
    assert ranks["cp37-cp37m-manylinux2014_x86_64"] < ranks["cp37-cp37m-manylinux2010_x86_64"]
    assert ranks["cp37-cp37m-manylinux1_x86_64"] < ranks["py3-none-any"]


def old_request(index: str, *wanted: str) -> Request:
    return Request(
        requirements=wanted,
        python="3.5",
        platform="windows-x86_64",
        as_of="2017-11-10",
        index=index,
    )


def test_python_3_5_takes_its_own_files_of_what_3_6_resolves_to(index: str) -> None:
    locked = old_python.lock(old_request(index, "two==1.0"), "title", {"python": "3.5"})
    pins = parse(locked.text, "x")
    assert {pin.file for pin in pins.pins} == {
        "two-1.0-cp35-cp35m-win_amd64.whl",
        "dep16-1.0-py3-none-any.whl",
    }
    assert "resolved for 3.6" in pins.header["method"]
    assert locked.build_text == ""


@pytest.mark.parametrize(
    ("wanted", "why"),
    [
        ("six-only==1.0", "no file of it fits"),
        ("newer==1.0", "Requires-Python is >=3.6"),
        ("tells==1.0", 'dep16; python_version < "3.6"'),
    ],
)
def test_what_does_not_hold_for_3_5_is_refused(index: str, wanted: str, why: str) -> None:
    with pytest.raises(ConflictError) as caught:
        old_python.lock(old_request(index, wanted), "title", {})
    assert why in caught.value.why
    assert caught.value.fix == "choose --python 3.6"


@pytest.mark.parametrize(
    ("script", "apart"),
    [
        ("classifiers=['Programming Language :: Python :: 3.5']", False),
        ("version, version_info = get_version()", False),
        ("if sys.version_info < (3, 6): requires.append('x')", True),
        ("extras={':python_version<\"3.6\"': ['x']}", True),
    ],
)
def test_a_setup_script_that_tells_3_5_from_3_6(script: str, apart: bool) -> None:
    text = old_python._without_classifiers(script)
    assert bool(old_python._TELLS_APART.search(text)) == apart


def test_the_shipped_lock_of_3_5_has_files_of_3_5() -> None:
    name = "tensorflow-gpu-1.4.0-cp35-windows_x86_64.txt"
    pins = parse(shipped(name) or "", name)
    assert pins.version_of("tensorflow-gpu") == "1.4.0"
    ranks = resolve.tag_ranks(old_request("", "x"))
    wheels = [pin for pin in pins.pins if not pin.is_sdist]
    assert len(wheels) >= 10
    assert all(resolve.file_rank(pin.file, ranks) is not None for pin in wheels)
