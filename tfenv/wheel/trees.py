"""Open what a path names: a wheel or other zip, or a directory."""

from __future__ import annotations

from pathlib import Path

from tfenv.wheel.archive import ZipTree
from tfenv.wheel.entry import Tree, refuse
from tfenv.wheel.folder import FolderTree


def open_tree(path: Path) -> Tree:
    """A wheel or a directory as a tree.

    Raises:
        BadWheelError: there is nothing, or it is damaged.
    """
    if path.is_dir():
        return FolderTree(path)
    if not path.is_file():
        raise refuse(path.name, "there is no such file or folder")
    return ZipTree(path)
