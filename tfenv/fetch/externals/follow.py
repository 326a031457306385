"""Read a tree completely: fetch the rule repositories that it loads, and evaluate again."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tfenv.errors import FileFormatError
from tfenv.fetch.externals.evaluate import evaluate
from tfenv.fetch.externals.record import External, Externals, externals
from tfenv.fetch.externals.tree import Tree, of_archive
from tfenv.fetch.item import Item, Outcome

_ROUNDS = 8


def read(
    tree: Tree,
    fetch: Callable[[Sequence[Item]], Sequence[Outcome]],
    bazel_version: str = "",
) -> Externals:
    """The externals of a tree.

    Args:
        tree: its Starlark.
        fetch: brings rule repositories; failures are returned, not raised.
        bazel_version: what the tree sees as Bazel's version.

    Raises:
        MissingExtraError: the Starlark interpreter is not installed.
        FileFormatError: the tree has no WORKSPACE.
    """
    repositories: dict[str, Tree] = {}
    tried: set[str] = set()
    found = externals(evaluate(tree, repositories, bazel_version))
    for _ in range(_ROUNDS):
        wanted = _rule_repositories(found, tried)
        if not wanted:
            break
        tried |= {one.name for one in wanted}
        repositories |= _fetched(wanted, fetch)
        found = externals(evaluate(tree, repositories, bazel_version))
    return found


def _rule_repositories(found: Externals, tried: set[str]) -> list[External]:
    """The archives whose files were asked for and are not at hand."""
    missing = {one.label.partition("//")[0].lstrip("@") for one in found.unread} - tried
    by_name = found.by_name()
    return [by_name[name] for name in sorted(missing) if name in by_name]


def _fetched(
    wanted: Sequence[External], fetch: Callable[[Sequence[Item]], Sequence[Outcome]]
) -> dict[str, Tree]:
    outcomes = {outcome.item.sha256: outcome for outcome in fetch(_items(wanted))}
    trees: dict[str, Tree] = {}
    for one in wanted:
        outcome = outcomes.get(one.sha256)
        if outcome is None or outcome.path is None:
            continue
        try:
            trees[one.name] = of_archive(outcome.path, one.strip_prefix)
        except FileFormatError:
            continue  # not an archive: what it would have declared stays unread
    return trees


def _items(wanted: Sequence[External]) -> list[Item]:
    return Externals(archives=list(wanted)).items()
