"""Lock -> plan: what every format renders from, so that all files carry the same values."""

from __future__ import annotations

import functools
import re
from importlib import resources
from pathlib import Path

import msgspec

from tfenv.errors import ConflictError, FileFormatError
from tfenv.facts.pinned import parse, shipped
from tfenv.files import sha256_bytes
from tfenv.lock.model import Artifact, Lock
from tfenv.render import expect
from tfenv.render.mirrors import Mirrors
from tfenv.target import Target
from tfenv.target import parse as parse_target

_TENSORFLOW = re.compile(r"tensorflow(-cpu|-gpu|-intel|-macos|-cpu-aws|-aarch64)?")


class OutFile(msgspec.Struct, frozen=True):
    """One generated file."""

    path: str  # below the target's folder, with forward slashes
    format: str
    purpose: str  # build, run, or empty for both
    text: str
    executable: bool = False


class Plan(msgspec.Struct, frozen=True, eq=False):
    """Everything that the templates need."""

    target: Target
    lock: Lock
    mirrors: Mirrors
    requirements: str  # text of the Python lock
    build_requirements: str  # text of its build tools; may be empty
    suite_requirements: str = ""  # text of the suite lock; empty: none was resolved
    nixpkgs_path: str = ""  # a folder that the flake takes nixpkgs from; empty: its own place

    def value(self, key: str, form: str = "") -> str:
        """A toolchain value, as one format pins it when it must pin otherwise."""
        table = self.lock.formats.get(form, {})
        if key in table:
            return table[key].value
        return self.lock.toolchain[key].value if key in self.lock.toolchain else ""

    def artifact(self, name: str) -> Artifact:
        """An artifact by name.

        Raises:
            ConflictError: the lock has none, or its hash is not known.
        """
        found = next((a for a in self.lock.artifact if a.name == name), None)
        if found is None:
            raise ConflictError(
                f"the lock of {self.lock.target} has no {name}",
                "this format needs it",
                "write the lock again with `tfenv lock`, or choose another format",
            )
        return found

    def image(self) -> Artifact | None:
        """The base image."""
        return next((a for a in self.lock.artifact if a.kind == "image"), None)

    def has(self, name: str) -> bool:
        """Whether the lock holds an artifact that can be fetched and checked."""
        return any(a.name == name and not a.unpinned for a in self.lock.artifact)

    @property
    def cuda_minor(self) -> str:
        """11.3 of 11.3.1."""
        return ".".join(self.value("cuda").split(".")[:2])

    def build_environment(self) -> str:
        """The Python lock without TensorFlow itself: what a build from source needs."""
        return _build_environment(self.requirements, self.build_requirements)

    def expectation(self, *, released: bool) -> str:
        """`expect.json` for the released wheel, or for one built from this plan."""
        pins = parse(self.requirements, "requirements")
        requirement = self.value("distribution")
        fields = expect.fields(
            self.target,
            distribution=re.split(r"[\[=]", requirement)[0],
            python=self.value("python"),
            versions={pin.name: pin.version for pin in pins.pins},
            device="auto",
            released=released,
        )
        text = msgspec.json.encode(fields, order="sorted")
        return msgspec.json.format(text, indent=1).decode() + "\n"


# Every format of a plan asks for it.
@functools.lru_cache(maxsize=4)
def _build_environment(requirements: str, build_requirements: str) -> str:
    pins = parse(requirements, "requirements")
    lines = [
        "# What TensorFlow is built with: its requirements without TensorFlow itself, and the",
        "# tools that build source distributions.",
    ]
    tools = parse(build_requirements, "build") if build_requirements else None
    chosen = {p.name: p for p in (tools.pins if tools else ())}
    chosen |= {p.name: p for p in pins.pins if not _TENSORFLOW.fullmatch(p.name)}
    for pin in sorted(chosen.values(), key=lambda p: p.name):
        lines.append(f"# {pin.file} {pin.size}")
        lines.append(f"{pin.name}=={pin.version} --hash=sha256:{pin.sha256}")
    return "\n".join(lines) + "\n"


def make(lock: Lock, mirrors: Mirrors, folder: Path | None = None) -> Plan:
    """The plan of a lock.

    Args:
        lock: the lock.
        mirrors: where the user wants things from.
        folder: where the lock's own Python files lie, when it is not a shipped lock.

    Raises:
        ConflictError: the lock has no Python part.
        FileFormatError: a Python file is missing or is not the one that was locked.
    """
    if lock.python is None:
        raise ConflictError(
            f"no Python lock of {lock.target} is shipped",
            f"Python {lock.toolchain['python'].value} of this target has not been resolved",
            f"run `tfenv lock {lock.target} -o DIR`, then `generate --lock FILE`",
        )
    python = lock.python
    return Plan(
        target=parse_target(lock.target),
        lock=lock,
        mirrors=mirrors,
        requirements=_text(python.file, python.sha256, folder),
        build_requirements=_text(python.build_file, python.build_sha256, folder)
        if python.build_file
        else "",
        suite_requirements=_suite(python.file),
    )


def _suite(name: str) -> str:
    """The suite lock that was resolved beside a shipped Python lock."""
    path = resources.files("tfenv").joinpath("locks", "suite", name)
    return path.read_text("utf-8") if shipped(name) and path.is_file() else ""


def _text(name: str, sha256: str, folder: Path | None) -> str:
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._+-]*\.txt", name):
        raise FileFormatError(
            "the lock names a Python file that is no file name",
            f"{name[:60]!r}",
            "write the lock again with `tfenv lock`",
        )
    candidates = [shipped(name)]
    if folder is not None and (folder / name).is_file():
        candidates.insert(0, (folder / name).read_text("utf-8"))
    for text in candidates:
        if text is not None and sha256_bytes(text.encode()) == sha256:
            parse(text, name)  # a line that is no pin would be an instruction to pip
            return text
    raise FileFormatError(
        f"the Python lock {name} is not the file that was locked",
        f"no file of that name with sha256 {sha256[:16]}... was found",
        "write the lock again with `tfenv lock`",
    )
