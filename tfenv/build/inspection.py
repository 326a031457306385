"""A look into what came out, before anybody finds it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tfenv.build.record import Product
from tfenv.errors import BuildError
from tfenv.target import Target
from tfenv.wheel.inspect import inspect


def look(folder: Path, products: Sequence[Product], target: Target) -> str:
    """Where the wheels of a build run, in a sentence each; libraries are not looked into.

    Raises:
        BuildError: a wheel is damaged, or is not the target's.
    """
    sentences = []
    for product in products:
        path = folder / product.name
        if path.suffix != ".whl":
            continue
        found = inspect(path)
        faults = [one.detail for one in found.findings if one.severity == "error"]
        if found.version.partition("+")[0] != target.version:
            faults.append(f"it is {found.name} {found.version}, wanted was {target.version}")
        if faults:
            raise BuildError(
                f"the wheel {product.name} was made and is not right",
                faults[0],
                f"look at it with `tfenv inspect {path}`",
            )
        sentences.append(found.runs_on.sentence)
    return " ".join(sentences)
