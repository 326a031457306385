"""What was built from what: `build.json` beside the product."""

from __future__ import annotations

import hashlib
import os
import shutil
from pathlib import Path

import msgspec

from tfenv import files

NAME = "build.json"
SCHEMA = 1


class Product(msgspec.Struct, frozen=True):
    """One file that a build made."""

    name: str
    sha256: str
    size: int


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """The last build of a target."""

    schema: int = SCHEMA
    target: str
    inputs: str  # hash of all that went in
    engine: str
    source: str
    products: list[Product]
    bazel: str = ""
    python: str = ""
    run: str = ""  # folder of its log and events
    seconds: float = 0.0
    runs_on: str = ""  # what inspecting a wheel said, in a sentence
    tag: str = ""  # which platform tag the wheel has got, or why it kept its own

    @property
    def made(self) -> list[Product]:
        """The products without the lock that lies beside them."""
        return [one for one in self.products if not one.name.endswith(".lock.toml")]


def inputs(*parts: str) -> str:
    """One hash for everything that a build depends on."""
    total = hashlib.sha256()
    for part in parts:
        total.update(part.encode() + b"\0")
    return total.hexdigest()


def products(folder: Path) -> list[Product]:
    """The files of an output folder."""
    return [
        Product(path.name, files.sha256_file(path), path.stat().st_size)
        for path in sorted(folder.iterdir())
        if path.is_file() and path.name != NAME and not path.name.startswith(".")
    ]


def read(folder: Path) -> Record | None:
    """The record of an output folder, if its products are still what they were."""
    try:
        record = msgspec.json.decode((folder / NAME).read_bytes(), type=Record)
    except (OSError, msgspec.DecodeError):
        return None
    for product in record.products:
        path = folder / product.name
        if Path(product.name).name != product.name or not path.is_file():
            return None
        if files.sha256_file(path) != product.sha256:
            return None
    return record if record.products and record.schema == SCHEMA else None


def publish(made: Path, folder: Path, entry: Record) -> None:
    """Put the products where people look for them, each whole, and nothing of an older build."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / NAME).unlink(missing_ok=True)
    for product in entry.products:
        part = folder / f".{product.name}.part"
        part.unlink(missing_ok=True)
        try:
            os.link(made / product.name, part)
        except OSError:  # another disk, or one without links
            shutil.copyfile(made / product.name, part)
        part.replace(folder / product.name)
    names = {product.name for product in entry.products}
    for path in folder.iterdir():
        if path.is_file() and path.name not in names:
            path.unlink()
    text = msgspec.json.format(msgspec.json.encode(entry), indent=1).decode()
    files.write_text(folder / NAME, text + "\n")
