"""A package index of our own on the loopback interface, and the small wheels that it serves."""

from __future__ import annotations

import hashlib
import io
import re
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import msgspec

from tfenv import facts
from tfenv.facts import schema
from tfenv.facts.update import index as asked
from tfenv.facts.update import wheels

Listing = dict[str, Any]
PADDING = 5 << 20  # bytes: past the size up to which a file is read whole


def entry(name: str, size: int = 300_000_000, day: str = "2027-03-02", **more: Any) -> Listing:
    """One file of a listing."""
    listing = {"filename": name, "size": size, "upload-time": f"{day}T10:00:00.5Z"}
    return {**listing, "url": f"../../files/{name}", **more}


def wheel(members: dict[str, str], padding: int = 0) -> bytes:
    """A wheel with these members; padding makes it large."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        if padding:
            archive.writestr(zipfile.ZipInfo("tensorflow/padding.bin"), b"\0" * padding)
        for name, text in members.items():
            archive.writestr(name, text)
    return buffer.getvalue()


def build_info(**values: Any) -> str:
    """The text of a build_info.py, in the form of the released ones."""
    items = list(values.items())
    return f'"""Auto-generated."""\nimport collections\nbuild_info = collections.OrderedDict({items})\n'


def metadata(*requirements: str) -> str:
    """The text of a METADATA file."""
    lines = [f"Requires-Dist: {text}" for text in requirements]
    return "\n".join(["Metadata-Version: 2.1", "Name: tensorflow", *lines, "", "Text."])


class Index(ThreadingHTTPServer):
    """Serves one listing per distribution, and files by ranges of bytes."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.pages: dict[str, bytes] = {}
        self.files: dict[str, bytes] = {}
        self.kind = asked.ACCEPT
        self.ranges = True
        self.redirect = ""  # where every file is said to have moved to
        self.sent = 0  # bytes of files
        self.secret = ""  # what the Authorization header has to be
        self.heard: set[str] = set()  # every Authorization header that came

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that has read enough hangs up."""

    @property
    def address(self) -> str:
        """The index's address."""
        return f"http://127.0.0.1:{self.server_address[1]}/simple"

    def add(self, distribution: str, *files: Listing) -> None:
        """List files."""
        page = msgspec.json.decode(self.pages[distribution])
        page["files"] += files
        self.pages[distribution] = msgspec.json.encode(page)

    def upload(
        self, distribution: str, name: str, data: bytes, day: str = "2027-03-02", **more: Any
    ) -> None:
        """List a file and serve it."""
        self.files[name] = data
        hashes = {"sha256": hashlib.sha256(data).hexdigest()}
        self.add(distribution, entry(name, len(data), day, **{"hashes": hashes, **more}))


class _Handler(BaseHTTPRequestHandler):
    server: Index

    def do_GET(self) -> None:
        name = self.path.strip("/").rpartition("/")[2]
        said = self.headers.get("Authorization", "")
        self.server.heard.add(said)
        if self.server.secret and said != self.server.secret:
            self.answer(b"", "text/plain", 401)
        elif self.path.startswith("/files/"):
            self.send_file(name)
        else:
            self.answer(self.server.pages.get(name), self.server.kind)

    def send_file(self, name: str) -> None:
        data = self.server.files.get(name)
        if self.server.redirect:
            self.send_response(302)
            self.send_header("Location", self.server.redirect)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        wanted = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
        if data is not None and wanted and self.server.ranges:
            data = data[int(wanted[1]) : int(wanted[2]) + 1]
            self.server.sent += len(data)
            self.answer(data, "application/octet-stream", 206)
        else:
            self.answer(data, "application/octet-stream")

    def answer(self, data: bytes | None, kind: str, status: int = 200) -> None:
        self.send_response(status if data is not None else 404)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data or b"")))
        self.end_headers()
        self.wfile.write(data or b"")

    def log_message(self, format: str, *args: Any) -> None:
        """Keep the test's output clean."""


@contextmanager
def serving() -> Iterator[Index]:
    """An index that lists exactly what the shipped tables have."""
    with Index() as running:
        running.pages = {name: document(files) for name, files in _shipped().items()}
        policy = wheel({"auditwheel/policy/manylinux-policy.json": _policy()})
        running.upload("auditwheel", "auditwheel-6.8.2-py3-none-any.whl", policy)
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield running
        finally:
            running.shutdown()
            thread.join()


def document(files: list[Listing]) -> bytes:
    """A page of the index."""
    return msgspec.json.encode({"meta": {"api-version": "1.1"}, "name": "x", "files": files})


def _shipped() -> dict[str, list[Listing]]:
    pages: dict[str, list[Listing]] = {name: [] for name in wheels.DISTRIBUTIONS}
    for row in facts.rows(schema.Wheel):
        pages[row.distribution] += listed(row)
    pages["pip"] = [
        entry(
            pip.file,
            pip.size,
            hashes={"sha256": pip.sha256},
            **{"requires-python": f">={_oldest(pip.pythons)}"},
        )
        for pip in facts.rows(schema.Installer)
    ]
    pages["auditwheel"] = []
    tag = "py3-none-manylinux2014_x86_64"
    pages["nvidia-cuda-nvcc-cu12"] = [entry(f"nvidia_cuda_nvcc_cu12-12.9.86-{tag}.whl")]
    pages["nvidia-cuda-crt"] = [entry(f"nvidia_cuda_crt-13.5.37-{tag}.whl")]
    return pages


def _oldest(pythons: str) -> str:
    """The lower bound of a range of Pythons; 3.5 where it has none."""
    found = re.match(r">=([\d.]+)", pythons)
    return found[1] if found else "3.5"


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


def _policy() -> str:
    """A policy file that gives manylinux.toml back."""
    policies: dict[str, dict[str, Any]] = {"linux": {"name": "linux", "symbol_versions": {}}}
    for row in facts.rows(schema.Manylinux):
        name = f"manylinux_{row.glibc.replace('.', '_')}"
        policy = policies.setdefault(name, {"name": name, "aliases": [], "symbol_versions": {}})
        policy["aliases"] = [row.alias] if row.alias else []
        policy["symbol_versions"][row.machine] = {
            "GLIBCXX": ["3.4", row.glibcxx],
            "CXXABI": ["1.3", row.cxxabi, "FLOAT128"],
        }
    return msgspec.json.encode(list(policies.values())).decode()
