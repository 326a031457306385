"""The two things that are compared: opened, and described."""

from __future__ import annotations

from pathlib import Path

from tfenv.audit.model import Side
from tfenv.audit.normalise import Facts
from tfenv.wheel import contents
from tfenv.wheel.entry import Tree
from tfenv.wheel.trees import open_tree


def open_side(path: Path) -> Tree:
    """A wheel or other zip, a folder, or an OCI image layout (folder or tar) as a tree.

    Raises:
        BadWheelError: there is nothing, or it is damaged.
    """
    if path.suffix != ".whl":
        from tfenv.audit.oci import OciTree, is_image

        if is_image(path):
            return OciTree(path)
    return open_tree(path)


def open_both(a: Path, b: Path) -> tuple[Tree, Tree]:
    first = open_side(a)
    try:
        return first, open_side(b)
    except BaseException:
        first.close()
        raise


def declared(tree: Tree) -> Facts:
    """What a side declares of itself."""
    about = contents.metadata(tree) if tree.kind != "oci" else None
    return Facts(version=about.version if about else "")


def describe(tree: Tree, facts: Facts, digest: str) -> Side:
    total = sum(entry.size for entry in tree.entries.values())
    return Side(
        path=tree.path.name,
        kind=tree.kind,
        sha256=digest,
        members=len(tree.entries),
        bytes=total,
        version=facts.version,
    )
