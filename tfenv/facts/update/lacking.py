"""What a table lacks that others show to be needed: the list for whoever keeps it up by hand."""

from __future__ import annotations

from collections.abc import Callable

from packaging.version import Version

from tfenv.facts import schema
from tfenv.facts.update.model import UNKNOWN, Tables, rows
from tfenv.facts.versions import minor


def wanted(table: str, tables: Tables) -> tuple[str, ...]:
    """What a person should look up for a table, one short text each."""
    find = _FIND.get(table)
    unknown = [
        f"{_about(row)}: {row.note.removeprefix(UNKNOWN)}"
        for row in tables[schema.TABLES[table]]
        if row.note.startswith(UNKNOWN)
    ]
    return (*unknown, *(find(tables) if find else ()))


def _about(row: schema.Row) -> str:
    for name in ("version", "cuda", "versions"):
        if text := getattr(row, name, ""):
            return str(text)
    return "a row"


def _tested(tables: Tables) -> list[str]:
    """Minors with a wheel for Linux and no tested configuration."""
    have = {(minor(r.version), r.variant) for r in rows(tables, schema.Tested)}
    seen = {
        (minor(r.version), r.variant)
        for r in rows(tables, schema.Wheel)
        if r.platform == "linux-x86_64" and not r.stub
    }
    return [f"{minor} {variant}" for minor, variant in sorted(seen - have)]


def _cpython(tables: Tables) -> list[str]:
    """Pythons that a wheel is for and no source archive is known of."""
    have = {minor(r.version) for r in rows(tables, schema.CPython)}
    seen = {p for r in rows(tables, schema.Wheel) for p in r.pythons if p != "3.5"}
    return [f"Python {python}" for python in sorted(seen - have, key=Version)]


def _cuda(tables: Tables) -> list[str]:
    """CUDA minors that a wheel was built with and no Linux installer is known of."""
    have = {minor(r.version) for r in rows(tables, schema.CudaToolkit)}
    seen = {minor(r.cuda) for r in rows(tables, schema.BuildInfo) if "." in r.cuda}
    return [f"CUDA {cuda}" for cuda in sorted(seen - have, key=Version)]


def _cudnn(tables: Tables) -> list[str]:
    """cuDNN versions that a wheel was built with and no archive is known of."""
    have = [f"{r.version}." for r in rows(tables, schema.CudnnArchive)]
    seen = {r.cudnn for r in rows(tables, schema.BuildInfo) if r.cudnn}
    lacking = [v for v in seen if not any(h.startswith(f"{v}.") for h in have)]
    return [f"cuDNN {cudnn}" for cudnn in sorted(lacking, key=Version)]


_FIND: dict[str, Callable[[Tables], list[str]]] = {
    "tested": _tested,
    "cpython": _cpython,
    "cuda": _cuda,
    "cudnn": _cudnn,
}
