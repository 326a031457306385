"""A look into what came out, before anybody finds it, and the tag that it has earned."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

import msgspec

from tfenv.build import repair
from tfenv.build.record import Product
from tfenv.errors import BuildError
from tfenv.target import Target
from tfenv.wheel.inspect import Inspection, inspect


class Looked(msgspec.Struct, frozen=True):
    """What inspecting the products said, in sentences; libraries are not looked into."""

    runs_on: str = ""
    tag: str = ""  # which platform tag a wheel has got, or why it kept its own


def look(folder: Path, products: Sequence[Product], target: Target, into: Path) -> Looked:
    """Have the products in `into`, wheels with the platform tag that they honour.

    Args:
        folder: where the products are.
        products: which they are.
        target: what they have to be.
        into: a folder of its own; what it held before goes.

    Raises:
        BuildError: a wheel is damaged, or is not the target's.
    """
    shutil.rmtree(into, ignore_errors=True)
    into.mkdir(parents=True)
    runs_on, told = [], []
    for product in products:
        path = folder / product.name
        if path.suffix != ".whl":
            _link(path, into / path.name)
            continue
        found = _checked(path, target)
        if repair.wants_tag(found) and not (reason := repair.kept_back(found)):
            path = repair.retag(path, found, into)
            found = _checked(path, target)
            told.append(f"{found.tags.real}, which its libraries honour")
        else:
            _link(path, into / path.name)
            if repair.wants_tag(found):
                told.append(f"{', '.join(found.tags.claimed)}: {reason}")
        runs_on.append(found.runs_on.sentence)
    return Looked(" ".join(runs_on), " ".join(told))


def _checked(path: Path, target: Target) -> Inspection:
    found = inspect(path)
    faults = [one.detail for one in found.findings if one.severity == "error"]
    if found.version.partition("+")[0] != target.version:
        faults.append(f"it is {found.name} {found.version}, wanted was {target.version}")
    if faults:
        raise BuildError(
            f"the wheel {path.name} was made and is not right",
            faults[0],
            f"look at it with `tfenv inspect {path}`",
        )
    return found


def _link(path: Path, place: Path) -> None:
    try:
        os.link(path, place)
    except OSError:  # a file system without links
        shutil.copyfile(path, place)
