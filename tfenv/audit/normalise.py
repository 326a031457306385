"""The normalisers: named, ordered, pure functions that remove one harmless kind of difference.

A normaliser sees one side at a time and knows nothing of the other, so that it cannot make two
things equal that are not: it replaces what it stands for by a fixed mark, on both sides alike.
Three scopes: `container` names a part of how members are stored, `content` at the bytes of a member or
at a stretch of a library's constants, `section` at a whole section of an ELF library, `field` at
fields of a Windows or macOS library's tables, which `tfenv.wheel.portable` finds.
`string-move` is the exception: it needs both sides, and lives in `code`.
"""

from __future__ import annotations

import dataclasses
import re
import struct
from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

from tfenv.wheel.entry import Entry


class Facts(NamedTuple):
    """What is declared of one side: its version, from METADATA; empty where it has none."""

    version: str = ""


Content = Callable[[str, bytes, Facts], bytes]
Aspect = Callable[[Entry], object]


@dataclasses.dataclass(frozen=True, slots=True)
class Normaliser:
    """One kind of harmless difference.

    Attributes:
        name: as it stands in a verdict.
        explanation: what is ignored and why that is harmless, for reports and documents.
        scope: what it works on.
        aspect: of scope `container`: the part of a stored member that is ignored.
        content: of scope `content`: bytes with the ignored parts replaced.
        sections: names of the sections that scope `section` ignores.
    """

    name: str
    explanation: str
    scope: Literal["container", "content", "section", "field", "code"]
    aspect: Aspect | None = None
    content: Content | None = None
    sections: tuple[str, ...] = ()


_NAME_MARK = "\0"
_OPEN, _CLOSE = b"\xff{tfenv:", b"}\xff"


def mark(name: str) -> bytes:
    """What stands in place of something removed. Content that holds one already is never
    normalised, so that nobody can write a mark where the other side has the real thing."""
    return _OPEN + name.encode() + _CLOSE


def zip_order(entry: Entry) -> object:
    """A member's place in the archive."""
    return entry.index


def zip_mtime(entry: Entry) -> object:
    """A member's modification time."""
    return entry.mtime


def zip_mode(entry: Entry) -> object:
    """A member's permission bits; whether it can be executed is compared apart from this."""
    return entry.mode


def zip_encoding(entry: Entry) -> object:
    """What only decompression looks at; compared where the content is the same."""
    return entry.method, entry.packed, entry.raw


def mask_version(_path: str, data: bytes, facts: Facts) -> bytes:
    """The declared version, in text and in TensorFlow's version macros."""
    if facts.version.count(".") < 2:  # 1.0 is also a number
        return data
    exact = re.escape(facts.version.encode())
    data = re.sub(rb"(?<![\w.])" + exact + rb"(?!\d|\.\d|\w)", mark("version"), data)
    parts = facts.version.split(".")
    spelled = b' "." '.join(b'"%s"' % part.encode() for part in parts)  # as macros put it together
    data = data.replace(spelled, b'"' + mark("version") + b'"')
    for name, number in zip((b"MAJOR", b"MINOR", b"PATCH"), parts, strict=False):
        macro = rb"(#define TF_" + name + rb"_VERSION +)" + re.escape(number.encode()) + rb"\b"
        data = re.sub(macro, rb"\1" + mark(name.decode().lower()), data)
    return data


_GIT = re.compile(rb"\bv?\d+\.\d+\.\d+(?:-?[a-z]+\d*)?-\d+-g[0-9a-f]{7,40}\b")


def mask_git_version(_path: str, data: bytes, _facts: Facts) -> bytes:
    """Output of `git describe`: v2.6.4-9-g6b54e9fa35d."""
    return _GIT.sub(mark("git-version"), data)


_MONTH = rb"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
_CLOCK = rb"[0-2]\d:[0-5]\d:[0-6]\d"
_TIMESTAMP = re.compile(
    rb"(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) " + _MONTH + rb" [ \d]\d " + _CLOCK + rb" \d{4}"
    rb"|\b" + _MONTH + rb" [ \d]\d \d{4}(?: " + _CLOCK + rb")?"
    rb"|\b\d{4}-[01]\d-[0-3]\d(?:[T ]" + _CLOCK + rb"(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)?)?"
    rb"|(?<![\d:])" + _CLOCK + rb"(?![\d:]))"
)  # fmt: skip


def mask_timestamp(_path: str, data: bytes, _facts: Facts) -> bytes:
    """Dates and times as __DATE__, __TIME__, __TIMESTAMP__ and ISO 8601 write them."""
    return _TIMESTAMP.sub(mark("timestamp"), data)


_BUILD_PATH = re.compile(
    rb"(?<![\w./-])/(?:tmp|var/tmp|private/var|home|root|Users|build|builddir|workspace|mnt|opt/build)"
    rb"(?:/[\w.+@~=-]+)*/"
    rb"|(?<![\w.])[A-Za-z]:[\\/](?i:users|tmp|temp|build|workspace|_bazel_\w+)"
    rb"(?:[\\/][\w.+@~=-]+)*[\\/]"
)


def mask_path(_path: str, data: bytes, _facts: Facts) -> bytes:
    """The folder of a path below the places where builds happen; the file's name stays."""
    return _BUILD_PATH.sub(lambda found: mark("build") + found[0][-1:], data)


_PYC_LONG_HEADER = 3390  # magic number of the first CPython 3.7: 16 bytes of header, before 12


def mask_pyc(path: str, data: bytes, _facts: Facts) -> bytes:
    """The source's modification time in the header of a .pyc (PEP 552). Code stays."""
    if not path.endswith(".pyc") or len(data) < 16 or data[2:4] != b"\r\n":
        return data
    (magic,) = struct.unpack_from("<H", data)
    if magic < _PYC_LONG_HEADER:
        return data[:4] + bytes(4) + data[8:]
    (flags,) = struct.unpack_from("<I", data, 4)
    return data if flags else data[:8] + bytes(4) + data[12:]


def mask_record(path: str, data: bytes, _facts: Facts) -> bytes:
    """RECORD without order, hashes and sizes: each member is compared itself, and each RECORD
    is checked against its own wheel."""
    if not path.endswith(".dist-info/RECORD"):
        return data
    lines = (line.rsplit(b",", 2)[0] for line in data.splitlines() if line)
    return b"\n".join(sorted(lines))


REGISTRY: tuple[Normaliser, ...] = (
    Normaliser(
        "zip-order",
        "the order of the members in an archive or layer, which follows the order in which a file system "
        "listed them; installers do not see it",
        "container",
        aspect=zip_order,
    ),
    Normaliser(
        "zip-mtime",
        "the members' modification times, which are the time of the build unless "
        "SOURCE_DATE_EPOCH was set",
        "container",
        aspect=zip_mtime,
    ),
    Normaliser(
        "zip-mode",
        "permission bits other than executable, which follow the builder's umask; installers "
        "keep only whether a file can be executed",
        "container",
        aspect=zip_mode,
    ),
    Normaliser(
        "zip-encoding",
        "how members are compressed, their extra fields, entries for folders and the archive's "
        "comment; content is compared after decompression, and bytes that belong to no member are "
        "named",
        "container",
        aspect=zip_encoding,
    ),
    Normaliser(
        "version",
        "the version that each side's own METADATA declares, in file names, text, TensorFlow's "
        "version macros and constants",
        "content",
        content=mask_version,
    ),
    Normaliser(
        "git-version",
        "the output of `git describe` that TensorFlow builds in as its GIT_VERSION",
        "content",
        content=mask_git_version,
    ),
    Normaliser(
        "build-timestamp",
        "dates and times of day, as __DATE__ and __TIME__ leave them",
        "content",
        content=mask_timestamp,
    ),
    Normaliser(
        "embedded-path",
        "the folder of a file below the usual places of builds (/tmp, /home, C:\\Users, ...); the "
        "file's name is still compared",
        "content",
        content=mask_path,
    ),
    Normaliser(
        "pyc",
        "the modification time of the source in the header of compiled Python",
        "content",
        content=mask_pyc,
    ),
    Normaliser(
        "record",
        "order, hashes and sizes in RECORD, which follow from the members; each RECORD was "
        "checked against its own wheel",
        "content",
        content=mask_record,
    ),
    Normaliser(
        "build-id",
        "the build-id note and the checksum of split debug information, which are hashes of the "
        "rest of the library",
        "section",
        sections=(".note.gnu.build-id", ".gnu_debuglink"),
    ),
    Normaliser(
        "pe-timestamp",
        "the time of the link in the headers and directories of a Windows library, and the "
        "checksum of its file, which Windows checks for drivers only",
        "field",
    ),
    Normaliser(
        "uuid",
        "the identity that the linker gives a macOS library (LC_UUID), and that by which a Windows "
        "library names its PDB file",
        "field",
    ),
    Normaliser(
        "code-signature",
        "the signature of a macOS library, where it names nobody (ad hoc): hashes of the file's "
        "own pages, which are compared themselves",
        "field",
    ),
    Normaliser(
        "string-move",
        "an address in code, when it points to the same text on both sides and only the text's "
        "place has moved",
        "code",
    ),
)
NAMES: tuple[str, ...] = tuple(item.name for item in REGISTRY)


def chosen(names: Sequence[str]) -> tuple[Normaliser, ...]:
    """The named normalisers in registry order."""
    return tuple(item for item in REGISTRY if item.name in names)


def explain_content(
    path: str, a: bytes, b: bytes, facts: tuple[Facts, Facts], allowed: Sequence[Normaliser]
) -> list[str] | None:
    """The fewest content normalisers, in order, after which both sides are equal; None if none."""
    usable = [item for item in allowed if item.content is not None]
    if _OPEN in a or _OPEN in b:
        return None
    one, used = _worked(path, a, facts[0], usable)
    two, used_too = _worked(path, b, facts[1], usable)
    if one != two:
        return None
    # Those that changed nothing are not needed; of the others each is tried.
    usable = [item for item in usable if item.name in used | used_too]
    for item in list(usable):
        fewer = [other for other in usable if other is not item]
        if _after(path, a, facts[0], fewer) == _after(path, b, facts[1], fewer):
            usable = fewer
    return [item.name for item in usable]


def after_all(path: str, data: bytes, facts: Facts, allowed: Sequence[Normaliser]) -> bytes:
    """One side after every content normaliser, to show what is left of a difference."""
    return _after(path, data, facts, [item for item in allowed if item.content is not None])


def _after(path: str, data: bytes, facts: Facts, usable: Sequence[Normaliser]) -> bytes:
    return _worked(path, data, facts, usable)[0]


def _worked(
    path: str, data: bytes, facts: Facts, usable: Sequence[Normaliser]
) -> tuple[bytes, set[str]]:
    """One side after the normalisers, and the names of those that changed something."""
    changed: set[str] = set()
    for item in usable:
        if item.content is not None:
            before, data = data, item.content(path, data, facts)
            if data != before:
                changed.add(item.name)
    return data, changed


def canonical_path(path: str, facts: Facts) -> str:
    """A member's name with the declared version taken out of its `.dist-info` and `.data`.

    The mark is a character that no member's name may hold; `shown_path` makes it readable.
    """
    if not facts.version:
        return path
    head, slash, rest = path.partition("/")
    for end in (".dist-info", ".data"):
        if head.endswith(f"-{facts.version}{end}"):
            return f"{head.removesuffix(f'{facts.version}{end}')}{_NAME_MARK}{end}{slash}{rest}"
    return path


def shown_path(path: str) -> str:
    """A canonical name as reports and the command line write it."""
    return path.replace(_NAME_MARK, "{version}")
