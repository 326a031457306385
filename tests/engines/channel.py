"""A small conda channel of our own, served on loopback."""

from __future__ import annotations

import contextlib
import hashlib
import http.server
import io
import json
import tarfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path


class Channel:
    """A channel in a folder: packages are added, then its index is written."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._index: dict[str, dict[str, dict[str, object]]] = {}

    def add(
        self,
        name: str,
        version: str,
        *,
        subdir: str = "linux-64",
        build: str = "0",
        depends: Sequence[str] = (),
        files: Mapping[str, str] | None = None,
        links: Mapping[str, str] | None = None,
    ) -> Path:
        """Write one package; returns its file. Links are symbolic, by what they lead to."""
        index = {
            "name": name,
            "version": version,
            "build": build,
            "build_number": 0,
            "depends": list(depends),
            "subdir": subdir,
        }
        if subdir == "noarch":
            index["noarch"] = "generic"
        path = self.folder / subdir / f"{name}-{version}-{build}.tar.bz2"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(package(index, files or {f"share/{name}.txt": version}, links or {}))
        data = path.read_bytes()
        self._index.setdefault(subdir, {})[path.name] = {
            **index,
            "sha256": hashlib.sha256(data).hexdigest(),
            "md5": hashlib.md5(data, usedforsecurity=False).hexdigest(),
            "size": len(data),
        }
        return path

    def write_index(self, *subdirs: str) -> None:
        """Write repodata.json for all subdirs in use, those named, and noarch."""
        for subdir in {*self._index, *subdirs, "noarch"}:
            folder = self.folder / subdir
            folder.mkdir(parents=True, exist_ok=True)
            repodata = {
                "info": {"subdir": subdir},
                "packages": self._index.get(subdir, {}),
                "packages.conda": {},
                "repodata_version": 1,
            }
            (folder / "repodata.json").write_text(json.dumps(repodata), encoding="utf-8")


def package(
    index: Mapping[str, object], files: Mapping[str, str], links: Mapping[str, str]
) -> bytes:
    """A conda package of the older kind: a tar archive with `info/` inside."""
    paths = {
        "paths_version": 1,
        "paths": [
            {
                "_path": name,
                "path_type": "hardlink",
                "sha256": hashlib.sha256(text.encode()).hexdigest(),
                "size_in_bytes": len(text.encode()),
            }
            for name, text in files.items()
        ]
        + [{"_path": name, "path_type": "softlink"} for name in links],
    }
    members = {
        "info/index.json": json.dumps(index),
        "info/paths.json": json.dumps(paths),
        "info/files": "".join(f"{name}\n" for name in (*files, *links)),
        **files,
    }
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:bz2") as archive:
        for name, text in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(text.encode())
            archive.addfile(member, io.BytesIO(text.encode()))
        for name, target in links.items():
            member = tarfile.TarInfo(name)
            member.type, member.linkname = tarfile.SYMTYPE, target
            archive.addfile(member)
    return stream.getvalue()


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Keep the test's output to the test."""


@contextlib.contextmanager
def served(folder: Path, host: str = "127.0.0.1") -> Iterator[str]:
    """The folder's address while the block runs; on loopback, or where containers see it."""
    handler = partial(_Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer((host, 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://{host}:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
