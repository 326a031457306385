"""The files of a Python lock: where the user's package index keeps them.

A Python lock holds names, versions and hashes, never an address. uv asks the index (`--index`,
`TFENV_INDEX`, else uv's own settings and default) where the files lie.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import tomli

from tfenv.errors import DownloadError
from tfenv.facts.pinned import PythonPins
from tfenv.fetch.item import Item
from tfenv.lock.resolve import Request, uv_platform


def items(pins: PythonPins, *, only: Iterable[str] | None = None) -> list[Item]:
    """The downloads of a Python lock, without addresses; `places` finds those.

    Args:
        pins: a Python lock.
        only: names of packages; None: all.
    """
    names = None if only is None else set(only)
    return [
        Item(
            name=pin.name,
            version=pin.version,
            sha256=pin.sha256,
            size=pin.size,
            urls=[],
            kind="python",
            file=pin.file,
            python=pins.header.get("python", ""),
            platform=pins.header.get("platform", ""),
        )
        for pin in pins.pins
        if names is None or pin.name in names
    ]


def places(wanted: Sequence[Item], index: str = "") -> dict[str, list[str]]:
    """The addresses by sha256 of every file that the index has of the wanted versions.

    Args:
        wanted: items of a Python lock.
        index: the package index; empty: the environment's, else uv's.

    Raises:
        DownloadError: the index did not answer.
    """
    groups: dict[tuple[str, str], list[Item]] = {}
    for item in wanted:
        groups.setdefault((item.python, item.platform), []).append(item)
    found: dict[str, list[str]] = {}
    for (python, platform), group in groups.items():
        found |= _ask(group, python, platform, index or os.environ.get("TFENV_INDEX", ""))
    return found


def _ask(wanted: Sequence[Item], python: str, platform: str, index: str) -> dict[str, list[str]]:
    from uv import find_uv_bin

    request = Request(requirements=(), python=python, platform=platform, as_of="", glibc="2.28")  # type: ignore[arg-type]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        lines = [f"{item.name}=={item.version}" for item in wanted]
        (folder / "in.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
        command = [find_uv_bin(), "pip", "compile", "--quiet", "--no-deps", "--no-header"]
        command += ["--format", "pylock.toml", "--output-file", "pylock.toml"]
        command += ["--python-version", python, "--python-platform", uv_platform(request)]
        command += ["--default-index", index] if index else []
        done = subprocess.run(
            [*command, "in.txt"], cwd=folder, capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise DownloadError(
                "the package index did not say where the Python packages lie",
                done.stderr.strip()[-400:] or "uv failed without a word",
                "set a reachable index with --index or TFENV_INDEX",
            )
        return _by_hash(tomli.loads((folder / "pylock.toml").read_text("utf-8")))


def _by_hash(pylock: dict[str, Any]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for package in pylock.get("packages", []):
        for entry in [*package.get("wheels", []), package.get("sdist", {})]:
            if "url" in entry:
                found.setdefault(entry.get("hashes", {}).get("sha256", ""), []).append(entry["url"])
    return found
