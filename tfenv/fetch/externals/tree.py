"""The Starlark files of a tree: of a folder, or of an archive that is never unpacked."""

from __future__ import annotations

import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import msgspec

from tfenv.errors import FileFormatError

_LARGEST = 4 << 20  # bytes of one Starlark file
_MOST = 20_000  # files
_NAMES = ("WORKSPACE", "WORKSPACE.bazel")
_SKIPPED = frozenset({".git", "node_modules"})


class Tree(msgspec.Struct, frozen=True):
    """Starlark files by their path in the tree, with forward slashes."""

    files: dict[str, str]

    def read(self, path: str) -> str | None:
        """The text of a file, or None."""
        return self.files.get(path)

    def below(self, folder: str) -> Tree:
        """A folder as a tree of its own."""
        prefix = folder.strip("/") + "/" if folder.strip("/") else ""
        return Tree(
            {p.removeprefix(prefix): t for p, t in self.files.items() if p.startswith(prefix)}
        )


def of_folder(folder: Path) -> Tree:
    """The files of a folder; links to folders are followed, circles are not."""
    return Tree(dict(_take(_in_folder(folder))))


def _in_folder(folder: Path) -> Iterator[tuple[str, int, bytes]]:
    above = [(folder, frozenset({folder.resolve()}))]
    while above:
        here, seen = above.pop()
        for path in sorted(here.iterdir()):
            if path.is_dir():
                real = path.resolve()
                if real not in seen and path.name not in _SKIPPED:
                    above.append((path, seen | {real}))
            elif _wanted(path.name) and path.is_file():
                name = path.relative_to(folder).as_posix()
                yield name, path.stat().st_size, path.read_bytes()


def of_archive(archive: Path, strip_prefix: str | None = None) -> Tree:
    """The files of a tar or zip archive.

    Args:
        archive: the file; its name says nothing, its content decides.
        strip_prefix: the folder of the archive that is the tree; None: its only top folder.

    Raises:
        FileFormatError: it is neither, or it is damaged.
    """
    try:
        members = _in_zip(archive) if zipfile.is_zipfile(archive) else _in_tar(archive)
        tree = Tree(dict(_take(members)))
    except (OSError, EOFError, tarfile.TarError, zipfile.BadZipFile, RuntimeError) as error:
        raise FileFormatError(
            f"{archive} cannot be read as an archive", str(error), "fetch it again"
        ) from error
    return tree.below(_top(tree) if strip_prefix is None else strip_prefix)


def _in_tar(archive: Path) -> Iterator[tuple[str, int, bytes]]:
    with tarfile.open(archive) as tar:
        for member in tar:
            if member.isfile() and _wanted(member.name):
                stream = tar.extractfile(member)
                if stream is not None:
                    yield member.name, member.size, stream.read(_LARGEST)


def _in_zip(archive: Path) -> Iterator[tuple[str, int, bytes]]:
    with zipfile.ZipFile(archive) as pack:
        for info in pack.infolist():
            if not info.is_dir() and _wanted(info.filename):
                with pack.open(info) as stream:
                    yield info.filename, info.file_size, stream.read(_LARGEST)


def _wanted(name: str) -> bool:
    base = name.rsplit("/", 1)[-1]
    return base.endswith(".bzl") or base in _NAMES


def _take(members: Iterator[tuple[str, int, bytes]]) -> Iterator[tuple[str, str]]:
    for number, (name, size, data) in enumerate(members):
        if number >= _MOST:
            return
        if size <= _LARGEST:
            yield name.removeprefix("./"), data.decode("utf-8", "replace").replace("\r\n", "\n")


def _top(tree: Tree) -> str:
    tops = {path.split("/", 1)[0] for path in tree.files if "/" in path}
    loose = any("/" not in path for path in tree.files)
    return tops.pop() if len(tops) == 1 and not loose else ""
