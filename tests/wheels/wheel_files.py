"""Released wheels for tests, by hash, from the user's own package index into tfenv's cache."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import NamedTuple

import pytest

from tfenv.errors import DownloadError
from tfenv.fetch.cache import Cache
from tfenv.fetch.item import Item
from tfenv.fetch.stage import Source, fetch_items


class Released(NamedTuple):
    """One file of the package index."""

    file: str
    sha256: str
    platform: str

    @property
    def name(self) -> str:
        return self.file.split("-")[0].replace("_", "-")

    @property
    def version(self) -> str:
        return self.file.split("-")[1]

    @property
    def python(self) -> str:
        digits = self.file.split("-")[2].removeprefix("cp")
        return f"{digits[0]}.{digits[1:]}"


def fetch(wheel: Released, folder: Path) -> Path:
    """The wheel under its own name; skips where the index cannot be reached."""
    item = Item(
        name=wheel.name,
        version=wheel.version,
        sha256=wheel.sha256,
        urls=[],
        kind="python",
        file=wheel.file,
        python=wheel.python,
        platform=wheel.platform,
    )
    try:
        (outcome,) = fetch_items([item], Source(), Cache())
    except DownloadError as error:
        pytest.skip(f"{error.what}: {error.why}")
    assert outcome.path is not None
    named = folder / wheel.file
    try:
        named.hardlink_to(outcome.path)
    except OSError:
        shutil.copyfile(outcome.path, named)
    return named


CPU_2_6_4 = Released(
    "tensorflow_cpu-2.6.4-cp37-cp37m-manylinux2010_x86_64.whl",
    "0174f8d69eb676120d993dfceca643dcb6ffaaada5fb04287d845a7239480ecc",
    "linux-x86_64",
)
CPU_2_6_5 = Released(
    "tensorflow_cpu-2.6.5-cp37-cp37m-manylinux2010_x86_64.whl",
    "7e8f1eeb9203f947feff8b962b252fef554c2ad2fee38d7091d795db4b23b653",
    "linux-x86_64",
)
