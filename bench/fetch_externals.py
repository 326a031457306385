"""How well the externals read from real trees agree with a table of them.

    python bench/fetch_externals.py TABLE VERSION TREE [NAME=REPOSITORY...]

TABLE is a tab-separated table with the columns tf_version, name, urls, sha256, strip_prefix and
defined_in; TREE is TensorFlow's source tree of that VERSION; NAME=REPOSITORY gives the tree of a
rule repository that WORKSPACE loads. Prints each row that is missing or different, and counts.
"""

from __future__ import annotations

import csv
import sys
from collections import defaultdict
from pathlib import Path

from tfenv.fetch.externals.evaluate import evaluate
from tfenv.fetch.externals.record import externals
from tfenv.fetch.externals.tree import of_folder

_LONGEST_FIELD = 1 << 24
# The table writes placeholders for hosts, so addresses with one are compared by their path.
_PLACEHOLDERS = ("{PyPI-files}", "{PyPI-old}", "{Debian}")


def main() -> None:
    table, version, tree, *others = sys.argv[1:]
    repositories = {
        name: of_folder(Path(path)) for name, _, path in (one.partition("=") for one in others)
    }
    found = externals(evaluate(of_folder(Path(tree)), repositories))
    mine = defaultdict(list)
    for one in found.archives:
        mine[one.name].append((one.urls, one.sha256, one.strip_prefix))
    counts = {"same": 0, "different": 0, "missing": 0, "not read": 0}
    for row in _rows(Path(table), version):
        outside = row["defined_in"].startswith("@")
        repository = row["defined_in"].partition("//")[0].lstrip("@")
        if outside and repository not in repositories:
            counts["not read"] += 1
            continue
        wanted = (row["urls"].split(), row["sha256"], row["strip_prefix"])
        same = any(_equal(wanted, one) for one in mine.get(row["name"], []))
        verdict = "same" if same else "different" if row["name"] in mine else "missing"
        counts[verdict] += 1
        if not same:
            print(f"{verdict}: {row['name']} ({row['defined_in']})")
    print(f"{version}: {counts}; read in all: {len(found.archives)} archives")


def _rows(table: Path, version: str) -> list[dict[str, str]]:
    csv.field_size_limit(_LONGEST_FIELD)
    with table.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE))
    return [r for r in rows if r["tf_version"] == version and r["urls"] and r["sha256"]]


def _equal(wanted: tuple[list[str], str, str], got: tuple[list[str], str, str]) -> bool:
    if wanted[1:] != got[1:] or len(wanted[0]) != len(got[0]):
        return False
    return all(_same_url(a, b) for a, b in zip(wanted[0], got[0], strict=True))


def _same_url(wanted: str, got: str) -> bool:
    for placeholder in _PLACEHOLDERS:
        if placeholder in wanted:
            before, _, after = wanted.partition(placeholder)
            return got.startswith(before) and got.endswith(after)
    return wanted == got


if __name__ == "__main__":
    main()
