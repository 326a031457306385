"""Write which release first has which kernel, from the results of runs on released wheels.

    python -m tests.wheels.kernels_first 1.4.0=results.jsonl 1.15.5=… 2.21.0=…

takes one run of each release, full profile. A kernel counts as present from the first of these
releases that has it; the branch of a later one that lacks it is left out: 2.0 lacks what 1.15 got
late. Run this when a table of the kernels' checks grows.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

from tfenv.files import write_text
from tfenv.resources import suite

FILE = suite() / "lib" / "tfsuite" / "kernels_first.json"
# Both of what a check says of a kernel that is not there: as a failure, and as a skip.
_LACKS = re.compile(r"TensorFlow \S+ has (?:no )?(\w+\.\w+\.\w+)(?:\.\w+)?, (?:the wheel|seen in)")


def lacking(path: Path) -> set[str]:
    """The kernels that one run did not find."""
    details = (json.loads(line).get("detail", "") for line in path.read_text("utf-8").splitlines())
    return {found.group(1) for found in map(_LACKS.match, details) if found}


def first(lacks: dict[str, set[str]]) -> dict[str, str]:
    """The range of each kernel that some release lacks; releases in their order."""
    table = {}
    names = list(lacks)
    for key in sorted(set().union(*lacks.values())):
        has = [i for i, name in enumerate(names) if key not in lacks[name]]
        if not has:
            table[key] = ">=999"
            continue
        later = [name for name in names[has[0] :] if key in lacks[name]]
        holes = [f"!={'.'.join(name.split('.')[:2])}.*" for name in later]
        if has[0] or holes:
            table[key] = ",".join([f">={names[has[0]]}", *holes])
    return table


def main(arguments: list[str]) -> None:
    """Write the table, and say what no release has."""
    pairs = [argument.split("=", 1) for argument in arguments]
    order = sorted(pairs, key=lambda pair: [int(n) for n in pair[0].split(".")])
    table = first({name: lacking(Path(path)) for name, path in order})
    document = {"measured": [name for name, _ in order], "first": table}
    write_text(FILE, json.dumps(document, indent=0, sort_keys=True) + "\n")
    for key, text in table.items():
        if text == ">=999":
            sys.stdout.write(f"no release has {key}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
