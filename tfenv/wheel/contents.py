"""The text files of a wheel that say what it is: METADATA, WHEEL, RECORD, build_info.py."""

from __future__ import annotations

import ast
import binascii
import csv
import email.parser
import io
import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from tfenv.errors import BadWheelError
from tfenv.wheel.entry import Entry, Tree, read_small

_DIST_INFO = re.compile(r"(?:.*/)?(?P<stem>[^/]+)\.dist-info/METADATA")
_DATA_PREFIX = re.compile(r"(?:[^/]+\.data/(?:purelib|platlib)/)?")
BUILD_INFO = re.compile(r"tensorflow(_core)?/python/platform/build_info\.py")
_URLSAFE = str.maketrans("-_", "+/")
SIGNATURES = (".jws", ".p7s")  # RECORD's own signatures stand in no RECORD


class Metadata(NamedTuple):
    """What METADATA and WHEEL say.

    Attributes:
        folder: the `.dist-info` folder, with a slash at its end.
        tags: from the Tag lines of WHEEL; empty in a directory without that file.
    """

    folder: str
    name: str
    version: str
    requires: tuple[str, ...]
    requires_python: str
    tags: tuple[str, ...]
    generator: str


class RecordLine(NamedTuple):
    sha256: str  # hexadecimal; empty where RECORD gives none
    size: int  # -1 where RECORD gives none


def installed_path(path: str) -> str:
    """Where a member ends up below site-packages: old wheels keep all under `.data/purelib`."""
    return path[_DATA_PREFIX.match(path).end() :]  # type: ignore[union-attr]


def dist_info(tree: Tree, prefer: str = "tensorflow") -> str | None:
    """The `.dist-info` folder, with a slash at its end; None where there is none.

    An environment has many: the one whose name begins with `prefer`, and among those the one
    with most files named after TensorFlow's packages, is taken.
    """
    found = [m for path in tree.entries if (m := _DIST_INFO.fullmatch(path))]
    if not found:
        return None
    chosen = min(found, key=lambda m: (not m["stem"].startswith(prefer), len(m.string), m.string))
    return chosen.string.removesuffix("METADATA")


def metadata(tree: Tree) -> Metadata | None:
    """What the wheel calls itself; None for a tree that is no distribution.

    Raises:
        BadWheelError: its METADATA has no name or version.
    """
    folder = dist_info(tree)
    if folder is None:
        return None
    head = _headers(tree, folder + "METADATA")
    wheel = _headers(tree, folder + "WHEEL") if folder + "WHEEL" in tree.entries else {}
    name, version = _one(head, "name"), _one(head, "version")
    if not name or not version:
        raise BadWheelError(
            f"{tree.path.name} has no name or version",
            f"{folder}METADATA lacks them",
            "get the file again from where it was published, or rebuild it",
        )
    return Metadata(
        folder,
        name,
        version,
        tuple(head.get("requires-dist", ())),
        _one(head, "requires-python"),
        tuple(wheel.get("tag", ())),
        _one(wheel, "generator"),
    )


def _headers(tree: Tree, path: str) -> dict[str, list[str]]:
    text = read_small(tree, path, 4 << 20).decode("utf-8", "replace")
    message = email.parser.HeaderParser().parsestr(text)
    found: dict[str, list[str]] = {}
    for key, value in message.items():
        found.setdefault(key.lower(), []).append(str(value).strip())
    return found


def _one(headers: Mapping[str, list[str]], key: str) -> str:
    return headers.get(key, [""])[0]


def parse_record(text: str) -> dict[str, RecordLine]:
    """RECORD by path (PEP 376, PEP 427).

    Raises:
        ValueError: a line has not three columns, a path stands twice, or a hash is no sha256.
    """
    found: dict[str, RecordLine] = {}
    for row in csv.reader(io.StringIO(text)):
        if not row:
            continue
        if len(row) != 3:
            raise ValueError(f"RECORD has a line of {len(row)} columns")
        path, digest, size = row
        if path in found:
            raise ValueError(f"RECORD lists {path!r} twice")
        if size and not (size.isascii() and size.isdigit() and len(size) < 20):
            raise ValueError(f"RECORD gives {path!r} the size {size[:40]!r}")
        found[path] = RecordLine(_sha256(path, digest), int(size) if size else -1)
    return found


def _sha256(path: str, text: str) -> str:
    if not text:
        return ""
    kind, _, value = text.partition("=")
    try:
        raw = binascii.a2b_base64(value.translate(_URLSAFE) + "=" * (-len(value) % 4))
    except (binascii.Error, ValueError) as error:
        raise ValueError(f"RECORD's hash of {path!r} is damaged") from error
    if kind != "sha256" or len(raw) != 32:
        raise ValueError(f"RECORD's hash of {path!r} is not a sha256")
    return raw.hex()


def record(tree: Tree, folder: str) -> dict[str, RecordLine]:
    """RECORD of a tree, with paths as members of the tree.

    Raises:
        ValueError: it is not there, or damaged.
    """
    path = folder + "RECORD"
    if path not in tree.entries:
        raise ValueError("there is no RECORD")
    try:
        text = read_small(tree, path).decode("utf-8")
        lines = parse_record(text)
    except (UnicodeDecodeError, csv.Error) as error:
        raise ValueError(f"RECORD cannot be read: {error}") from error
    base = folder.rstrip("/").rpartition("/")[0]
    return {f"{base}/{p}" if base else p: line for p, line in lines.items()}


def record_faults(
    entries: Mapping[str, Entry], lines: Mapping[str, RecordLine], digests: Mapping[str, str]
) -> list[str]:
    """Where RECORD and the members disagree. `digests` holds those that were computed."""
    faults: list[str] = []
    for path, digest in digests.items():
        line = lines.get(path)
        if line is None:
            if not path.endswith((".dist-info/RECORD", *SIGNATURES)):
                faults.append(f"{path} is not in RECORD")
        elif line.sha256 and line.sha256 != digest:
            faults.append(f"{path} does not have the hash that RECORD gives")
        elif not line.sha256 and not path.endswith(("RECORD", ".pyc", *SIGNATURES)):
            faults.append(f"RECORD gives no hash for {path}")
        elif line.size not in (-1, entries[path].size):
            faults.append(f"{path} does not have the size that RECORD gives")
    faults += [f"{path} is in RECORD and not there" for path in _missing(entries, lines)]
    return sorted(faults)


def _missing(entries: Mapping[str, Entry], lines: Iterable[str]) -> list[str]:
    """Paths of RECORD without a member; `../../../bin/x` lies outside the tree and is left out."""
    return [path for path in lines if path not in entries and ".." not in path.split("/")]


def build_info(source: str) -> dict[str, object]:
    """The constants of TensorFlow's `build_info.py`, which is parsed and never run.

    Releases to 2.2 assign module attributes; later ones assign one OrderedDict of pairs.

    Raises:
        ValueError: it is not Python.
    """
    try:
        module = ast.parse(source)
    except (SyntaxError, RecursionError, MemoryError) as error:
        raise ValueError(f"build_info.py is not Python: {error}") from error
    found: dict[str, object] = {}
    for node in module.body:
        if not isinstance(node, ast.Assign) or not isinstance(node.targets[0], ast.Name):
            continue
        name, value = node.targets[0].id, node.value
        if name == "build_info" and isinstance(value, ast.Call) and value.args:
            value = value.args[0]  # OrderedDict([...])
        try:
            constant: object = ast.literal_eval(value)
        except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
            continue
        found.update(_pairs(constant) if name == "build_info" else {name: constant})
    return found


def _pairs(constant: object) -> dict[str, object]:
    if isinstance(constant, dict):
        return {str(key): value for key, value in constant.items()}
    if not isinstance(constant, (list, tuple)):
        return {}
    pairs = (pair for pair in constant if isinstance(pair, tuple) and len(pair) == 2)
    return {str(key): value for key, value in pairs}
