"""A directory as a tree: an unpacked wheel, an installed environment, a build's output."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from tfenv.wheel import entry as entries_of
from tfenv.wheel.entry import Entry, Wanted, refuse
from tfenv.wheel.inflate import CHUNK


class FolderTree:
    """The regular files and links below a folder, by name. Links are listed, never followed.

    Raises:
        BadWheelError: the folder cannot be read, or holds too many files.
    """

    kind = "directory"

    def __init__(self, path: Path) -> None:
        self.path = path
        self.entries: Mapping[str, Entry] = dict(self._walk())

    def _walk(self) -> Iterator[tuple[str, Entry]]:
        index = 0
        for base, folders, files in os.walk(self.path):
            folders.sort()
            for name in sorted(files + [f for f in folders if (Path(base) / f).is_symlink()]):
                full = Path(base) / name
                status = full.lstat()
                link = str(full.readlink()) if full.is_symlink() else ""
                if not link and entries_of.special_kind(status.st_mode):
                    continue
                path = full.relative_to(self.path).as_posix()
                size = len(os.fsencode(link)) if link else status.st_size
                yield path, Entry(path, size, index, mode=status.st_mode & 0o7777, link=link)
                index += 1
                if index > entries_of.MAX_MEMBERS:
                    raise refuse(self.path.name, f"it holds over {index - 1} files")

    def close(self) -> None:
        """Nothing is held open."""

    def stream(self, wanted: Wanted) -> Iterator[tuple[Entry, Iterator[bytes]]]:
        """The wanted files in name order, each as chunks."""
        for item in self.entries.values():
            if wanted(item):
                yield item, self._chunks(item)

    def _chunks(self, item: Entry) -> Iterator[bytes]:
        if item.link:
            yield os.fsencode(item.link)
            return
        try:
            with (self.path / item.path).open("rb") as stream:
                while chunk := stream.read(CHUNK):
                    yield chunk
        except OSError as error:
            raise refuse(item.path, f"it cannot be read: {error.strerror}") from error
