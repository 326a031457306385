"""`manylinux.toml`: the tags that auditwheel's policy file knows, from its newest wheel."""

from __future__ import annotations

import re

import msgspec
from packaging.version import Version

from tfenv.errors import FileFormatError
from tfenv.facts import schema
from tfenv.facts.update import listing
from tfenv.facts.update.index import Index
from tfenv.facts.update.model import Change, Outcome, Tables, rows

_MEMBER = r"auditwheel/policy/manylinux-policy\.json"
_MACHINES = ("x86_64", "aarch64")


class _Policy(msgspec.Struct, frozen=True):
    name: str
    aliases: list[str] = []
    symbol_versions: dict[str, dict[str, list[str]]] = {}


def update(tables: Tables, index: Index) -> Outcome:
    """The table with the tags that it lacks, or has otherwise.

    Raises:
        FileFormatError: the policy file is of another form.
    """
    old = rows(tables, schema.Manylinux)
    newest = listing.newest(index.files("auditwheel"))
    if newest is None:
        return Outcome(old, said="the index does not have auditwheel")
    version, file = newest
    text = index.member("auditwheel", file, _MEMBER)
    table = {(row.glibc, row.machine): row for row in old}
    changes = []
    for row in read(text or "", f"PyPI auditwheel=={version}, {_MEMBER.replace(chr(92), '')}"):
        key = (row.glibc, row.machine)
        before = table.get(key)
        if before is not None and _same(before, row):
            continue
        table[key] = row
        changes.append(Change("changed" if before else "new", " ".join(key)))
    ordered = sorted(
        table.values(), key=lambda r: (Version(r.glibc), -_MACHINES[::-1].index(r.machine))
    )
    return Outcome(tuple(ordered), tuple(changes))


def read(text: str, source: str) -> list[schema.Manylinux]:
    """The rows of a policy file.

    Raises:
        FileFormatError: it is of another form.
    """
    try:
        policies = msgspec.json.decode(text, type=list[_Policy])
    except msgspec.DecodeError as error:
        raise FileFormatError(
            "auditwheel's policy file cannot be read", str(error), "read it by hand"
        ) from error
    found = []
    for policy in policies:
        glibc = re.fullmatch(r"manylinux_(\d+)_(\d+)", policy.name)
        for machine in _MACHINES:
            symbols = policy.symbol_versions.get(machine)
            if glibc is None or not symbols:
                continue
            row = schema.Manylinux(
                glibc=f"{glibc[1]}.{glibc[2]}",
                machine=machine,
                glibcxx=_highest(symbols.get("GLIBCXX", [])),
                cxxabi=_highest(symbols.get("CXXABI", [])),
                alias=policy.aliases[0] if policy.aliases else "",
                source=source,
            )
            found.append(row)
    return found


def _same(one: schema.Manylinux, other: schema.Manylinux) -> bool:
    names = ("glibcxx", "cxxabi", "alias")
    return all(getattr(one, name) == getattr(other, name) for name in names)


def _highest(versions: list[str]) -> str:
    numbers = [text for text in versions if re.fullmatch(r"\d+(\.\d+)*", text)]
    return str(max(map(Version, numbers), default=""))
