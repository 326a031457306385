"""Fix texts with this target's exact versions in them.

A fix line is a template: `{bazel}` is a version that the target pins, `{bazel|the Bazel of
.bazelversion}` the same with words for when it is not known. A line that needs something
unknown and has no words for it is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from tfenv.errors import TfenvError
from tfenv.facts.versions import minor

if TYPE_CHECKING:
    from tfenv.target import Target

_HOLE = re.compile(r"\{([a-z_]+)(?:\|([^{}]*))?\}")
_UNSAFE = re.compile(r"[^\w.,:;=+/@<>~ \[\]()'\"!*-]")
_PLATFORM_CLUES = {"windows-x86_64": "windows", "macos-x86_64": "macos", "macos-arm64": "macos_arm"}


def fill(lines: Iterable[str], known: Mapping[str, str]) -> list[str]:
    """The fix lines that can be said, in order."""
    return [text for line in lines for text in [_line(line, known)] if text]


def _line(line: str, known: Mapping[str, str]) -> str:
    lacking = False

    def put(match: re.Match[str]) -> str:
        nonlocal lacking
        value, words = known.get(match.group(1), ""), match.group(2)
        if value:
            return _UNSAFE.sub("", value)[:200]
        lacking |= words is None
        return words or ""

    text = _HOLE.sub(put, line)
    return "" if lacking else text


def of_target(target: Target) -> dict[str, str]:
    """What a target pins, by the names that fix lines use."""
    from tfenv import toolchain

    chosen = toolchain.choose(target)
    known = {name.replace("-", "_"): value.value for name, value in chosen.values.items()}
    compiler, _, number = known.get("compiler", "").partition(" ")
    known |= {compiler.lower(): number} if number else {}
    known |= {"target": target.name, "version": target.version, "minor": minor(target.version)}
    if "cuda" in known:
        known |= {
            "cuda_minor": minor(known["cuda"]),
            "cudnn_minor": minor(known.get("cudnn", "")),
        }
        known["driver"] = known.get("driver", "").lstrip(">=")
    if "python" in known:
        known["python_tag"] = "cp" + known["python"].replace(".", "")
    return known


def clues_of(target: Target, pins: Mapping[str, str]) -> dict[str, str]:
    """What a target says about the log: the version, and the platform where it is not Linux."""
    clues = {"tf_version": target.version, "target_cuda": pins.get("cuda", "")}
    if target.platform in _PLATFORM_CLUES:
        clues[_PLATFORM_CLUES[target.platform]] = "yes"
    return {name: value for name, value in clues.items() if value}


def guess(tf_version: str, *, cuda: bool, platform: str = "") -> dict[str, str]:
    """The pins of the target that a log seems to be about, or nothing."""
    from tfenv.target import parse

    if not re.fullmatch(r"\d+\.\d+(?:\.\d+)?", tf_version):
        return {}
    name = f"{tf_version}-{'cuda' if cuda else 'cpu'}" + (f"-{platform}" if platform else "")
    try:
        return of_target(parse(name))
    except TfenvError:
        return {}
