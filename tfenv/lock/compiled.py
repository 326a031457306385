"""What has to be compiled when a Python lock is installed, and what that needs."""

from __future__ import annotations

import msgspec

from tfenv import facts
from tfenv.facts import schema
from tfenv.lock.model import Lock


class Compiled(msgspec.Struct, frozen=True):
    """One source distribution that is more than Python."""

    name: str
    version: str
    needs: str  # "a C compiler"
    optional: bool  # installs without, and is slower then
    source: str


def compiled(lock: Lock) -> list[Compiled]:
    """The source distributions of a lock that compile something; those of pure Python are left out.

    A package that no row speaks about is said to need what is not known.
    """
    rows = {row.package: row for row in facts.rows(schema.SdistNeed)}
    found = []
    for artifact in lock.artifact:
        if artifact.kind != "sdist":
            continue
        row = rows.get(artifact.name)
        if row is None:
            text = "what is not known: nobody read this source distribution"
            found.append(Compiled(artifact.name, artifact.version, text, False, artifact.source))
        elif row.needs:
            item = Compiled(artifact.name, artifact.version, row.needs, row.optional, row.source)
            found.append(item)
    return found


def sentences(lock: Lock) -> list[str]:
    """The same for a person, one line each."""
    return [
        f"{item.name} {item.version} has no wheel here and is compiled when it is installed: needs "
        f"{item.needs}{' (installs without one too, and is slower then)' if item.optional else ''}"
        for item in compiled(lock)
    ]
