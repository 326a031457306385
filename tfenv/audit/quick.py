"""`tfenv audit --quick`: what two RECORDs claim, and nothing else. Its imports are few: it is fast."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tfenv.audit import normalise
from tfenv.audit.model import Audit, Difference
from tfenv.audit.normalise import Facts
from tfenv.audit.sides import declared, describe, open_both
from tfenv.errors import BadWheelError
from tfenv.wheel import contents
from tfenv.wheel.entry import Tree


def quick(a: Path, b: Path) -> Audit:
    """Compare what the two RECORDs claim, and read nothing else.

    Raises:
        BadWheelError: one of them has no RECORD, or is damaged.
    """
    trees = open_both(a, b)
    try:
        facts = [declared(tree) for tree in trees]
        lines = [_claims(tree, fact) for tree, fact in zip(trees, facts, strict=True)]
        found = list(_claimed_differences(lines[0], lines[1]))
        return Audit(
            verdict="different" if found else "identical",
            normalisers=[],
            differences=found,
            explained=[],
            a=describe(trees[0], facts[0], ""),
            b=describe(trees[1], facts[1], ""),
            trusted="RECORD",
        )
    finally:
        for tree in trees:
            tree.close()


def _claims(tree: Tree, facts: Facts) -> dict[str, contents.RecordLine]:
    folder = contents.dist_info(tree)
    try:
        if folder is None:
            raise ValueError("there is no RECORD")
        lines = contents.record(tree, folder)
    except ValueError as error:
        raise BadWheelError(
            f"{tree.path.name} cannot be compared quickly", str(error), "leave out --quick"
        ) from error
    unlisted = [p for p in tree.entries if p not in lines and not p.endswith(contents.SIGNATURES)]
    for path in unlisted:
        entry = tree.entries[path]
        lines[path] = contents.RecordLine(f"crc {entry.crc}", entry.size)
    return {normalise.canonical_path(path, facts): line for path, line in lines.items()}


def _claimed_differences(
    one: dict[str, contents.RecordLine], two: dict[str, contents.RecordLine]
) -> Iterator[Difference]:
    for path in sorted({*one, *two}):
        if one.get(path) == two.get(path):
            continue
        kind, detail = "claimed", "the RECORDs give other hashes or sizes"
        if path not in one or path not in two:
            kind, detail = "member", f"it is only in {'A' if path in one else 'B'}"
        cause = "not looked at: --quick reads only the RECORDs"
        yield Difference(path=normalise.shown_path(path), kind=kind, cause=cause, detail=detail)
