"""How much a lock downloads, and what of it is not pinned."""

from __future__ import annotations

from tfenv.facts.pinned import parse, shipped
from tfenv.lock.model import Lock


def python_bytes(lock: Lock) -> int:
    """Bytes of the files of the Python lock, and of the tools that build its source archives."""
    if lock.python is None:
        return 0
    texts = {name: shipped(name) for name in (lock.python.file, lock.python.build_file) if name}
    return sum(pin.size for name, text in texts.items() for pin in parse(text or "", name).pins)


def known_bytes(lock: Lock) -> int:
    """Bytes of all downloads whose size is known; the Python files are counted once."""
    own = sum(a.size for a in lock.artifact if a.kind != "sdist")
    return own + python_bytes(lock)


def unknown(lock: Lock) -> list[str]:
    """Artifacts whose size is not known."""
    return [f"{a.name} {a.version}" for a in lock.artifact if not a.size]


def unpinned(lock: Lock) -> list[dict[str, str]]:
    """Artifacts without a known hash, each with its reason."""
    return [
        {"name": a.name, "version": a.version, "reason": a.unpinned}
        for a in lock.artifact
        if a.unpinned
    ]
