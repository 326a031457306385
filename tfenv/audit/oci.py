"""An OCI image layout as a tree: the configuration and every file of every layer.

Format: OCI Image Format Specification 1.1 (image-layout.md, layer.md). Blobs are checked against
their digests; layers may be plain or gzipped tars; nothing is unpacked.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import tarfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, cast

from tfenv.wheel import entry as entries_of
from tfenv.wheel.archive import BOMB_RATIO, BOMB_TOTAL, MAX_TOTAL
from tfenv.wheel.entry import Entry, Wanted, refuse
from tfenv.wheel.inflate import CHUNK

_MAX_JSON = 8 << 20
_LAYERS = ("tar", "tar+gzip", "diff.tar.gzip", "diff.tar", "layer.v1.tar", "layer.v1.tar+gzip")


def is_image(path: Path) -> bool:
    """Whether a path is an OCI layout, as a folder or as a tar of one."""
    if path.is_dir():
        return (path / "oci-layout").is_file() and (path / "index.json").is_file()
    return path.is_file() and not path.name.endswith(".whl") and tarfile.is_tarfile(path)


class OciTree:
    """The only image of a layout.

    Raises:
        BadWheelError: the layout is damaged, holds several images, or a blob has another digest.
    """

    kind = "oci"

    def __init__(self, path: Path) -> None:
        self.path = path
        self._tar = None if path.is_dir() else _open_tar(path)
        try:
            manifest = self._manifest()
            self._config = self._json(manifest["config"])
            self._layers = [self._checked(layer) for layer in manifest["layers"]]
            self.entries: Mapping[str, Entry] = dict(self._list())
        except (KeyError, TypeError, AttributeError, RecursionError, json.JSONDecodeError) as error:
            self.close()
            raise refuse(path.name, f"the image's description is damaged: {error!r}") from error
        except (tarfile.TarError, EOFError, OSError, ValueError, zlib.error) as error:
            self.close()
            raise refuse(path.name, f"the image is damaged: {error}") from error
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        if self._tar is not None:
            self._tar.close()

    def _manifest(self) -> Any:
        with self._file("index.json") as stream:
            manifests = json.loads(stream.read(_MAX_JSON))["manifests"]
        if len(manifests) != 1:
            raise ValueError(f"it holds {len(manifests)} images, and one is expected")
        self.digest = str(manifests[0]["digest"])
        found = json.loads(self._json(manifests[0]))
        return self._manifest_of(found) if "manifests" in found else found

    def _manifest_of(self, index: Any) -> Any:
        manifests = [m for m in index["manifests"] if "platform" in m] or index["manifests"]
        if len(manifests) != 1:
            raise ValueError(f"it holds {len(manifests)} images, and one is expected")
        return json.loads(self._json(manifests[0]))

    def _file(self, name: str) -> IO[bytes]:
        if self._tar is None:
            return (self.path / name).open("rb")
        for spelling in (name, f"./{name}"):
            if spelling in self._tar.getnames():
                found = self._tar.extractfile(spelling)
                if found is not None:
                    return found
        raise ValueError(f"{name} is missing")

    def _blob_name(self, descriptor: Any) -> str:
        kind, _, value = str(descriptor["digest"]).partition(":")
        if kind != "sha256" or len(value) != 64 or not set(value) <= set("0123456789abcdef"):
            raise ValueError("a blob has no sha256 digest")
        return f"blobs/sha256/{value}"

    def _json(self, descriptor: Any) -> bytes:
        with self._file(self._blob_name(descriptor)) as stream:
            data = stream.read(_MAX_JSON)
        if hashlib.sha256(data).hexdigest() != str(descriptor["digest"]).partition(":")[2]:
            raise ValueError("a blob does not match its digest")
        return data

    def _checked(self, descriptor: Any) -> str:
        """The file of a layer whose digest is right."""
        media = str(descriptor.get("mediaType", "")).rpartition("/")[2]
        if not media.endswith(_LAYERS):
            raise ValueError(f"a layer of type {media!r} cannot be read")
        name = self._blob_name(descriptor)
        digest = hashlib.sha256()
        with self._file(name) as stream:
            while chunk := stream.read(CHUNK):
                digest.update(chunk)
        if digest.hexdigest() != name.rpartition("/")[2]:
            raise ValueError("a layer does not match its digest")
        return name

    def _list(self) -> Iterator[tuple[str, Entry]]:
        yield "config.json", Entry("config.json", len(self._config), 0)
        index, total = 1, 0
        for number, layer in enumerate(self._layers):
            seen: set[str] = set()
            for member in self._members(layer):
                path = _path(number, member)
                if path in seen:
                    raise ValueError(f"{path} is there twice")
                seen.add(path)
                total += member.size
                if index > entries_of.MAX_MEMBERS or total > MAX_TOTAL:
                    raise ValueError("it holds too much")
                yield path, _entry(path, index, member)
                index += 1

    def _members(self, layer: str) -> Iterator[tarfile.TarInfo]:
        with self._layer(layer) as archive:
            for member in archive:
                if not member.isdir():
                    yield member

    @contextmanager
    def _layer(self, name: str) -> Iterator[tarfile.TarFile]:
        with self._file(name) as raw:
            head = raw.read(2)
            raw.seek(0)
            packed = raw.seek(0, 2)
            raw.seek(0)
            plain = _Limited(raw, packed) if head == b"\x1f\x8b" else raw
            with tarfile.open(fileobj=cast("IO[bytes]", plain), mode="r|") as archive:
                yield archive

    def stream(self, wanted: Wanted) -> Iterator[tuple[Entry, Iterator[bytes]]]:
        """The wanted members, layer by layer."""
        if wanted(self.entries["config.json"]):
            yield self.entries["config.json"], iter([self._config])
        try:
            for number, layer in enumerate(self._layers):
                with self._layer(layer) as archive:
                    for member in archive:
                        if member.isdir():
                            continue
                        item = self.entries[_path(number, member)]
                        if wanted(item):
                            yield item, _content(archive, member)
        except (tarfile.TarError, EOFError, OSError, ValueError, zlib.error) as error:
            raise refuse(self.path.name, f"the image is damaged: {error}") from error


class _Limited:
    """Gunzips, and stops where a layer grows like a bomb."""

    def __init__(self, raw: IO[bytes], packed: int) -> None:
        self._stream = gzip.GzipFile(fileobj=raw)
        self._left = max(BOMB_TOTAL, packed * BOMB_RATIO)

    def read(self, size: int) -> bytes:
        data = self._stream.read(size)
        self._left -= len(data)
        if self._left < 0:
            raise ValueError("a layer unpacks to far more than it holds: a bomb")
        return data


def _open_tar(path: Path) -> tarfile.TarFile:
    try:
        return tarfile.open(path, "r:")
    except (tarfile.TarError, OSError) as error:
        raise refuse(path.name, f"it is no plain tar: {error}") from error


def _path(layer: int, member: tarfile.TarInfo) -> str:
    return entries_of.safe_path(f"layer{layer}/{member.name.removeprefix('./')}")


def _entry(path: str, index: int, member: tarfile.TarInfo) -> Entry:
    link = member.linkname if member.issym() or member.islnk() else ""
    if not member.isreg() and not link:
        link = f"special:{member.type!r}:{member.devmajor}:{member.devminor}"
    return Entry(
        path,
        member.size,
        index,
        mode=member.mode & 0o7777,
        mtime=str(int(member.mtime)),
        link=link,
        owner=_owner(member),
    )


def _owner(member: tarfile.TarInfo) -> str:
    """Who a file belongs to in a layer, and its extended attributes."""
    extra = " ".join(
        f"{key}={value}"
        for key, value in sorted(member.pax_headers.items())
        if key not in ("mtime", "atime", "ctime", "path", "linkpath", "size")
    )
    names = f"{member.uid}:{member.gid} {member.uname}:{member.gname}"
    return f"{names} {extra}".rstrip()[:2000]


def _content(archive: tarfile.TarFile, member: tarfile.TarInfo) -> Iterator[bytes]:
    stream = archive.extractfile(member) if member.isreg() else None
    if stream is None:
        yield member.linkname.encode("utf-8", "surrogateescape")
        return
    while chunk := stream.read(CHUNK):
        yield chunk
