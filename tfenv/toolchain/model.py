"""The toolchain: one chosen value per key, each with its reason, and what was refused."""

from __future__ import annotations

import re

import msgspec

from tfenv.errors import UnsafeValueError
from tfenv.target import Target

_SAFE = re.compile(r"[A-Za-z0-9][A-Za-z0-9.:_+ -]{0,63}")


class Rejected(msgspec.Struct, frozen=True):
    """A value that a rule refused."""

    value: str
    reason: str
    source: str


class Chosen(msgspec.Struct, frozen=True):
    """A value, the rule that gave it, and where that rule or fact is known from."""

    value: str
    rule: str
    reason: str
    source: str
    rejected: tuple[Rejected, ...] = ()


class Choices(msgspec.Struct, frozen=True, kw_only=True):
    """What the user narrows; an empty string leaves it to the rules."""

    python: str = ""
    numpy: str = ""
    compiler: str = ""  # gcc-8, clang-18
    bazel: str = ""
    bazel_via: str = ""  # bazelisk, installer, binary
    cuda: str = ""
    cudnn: str = ""
    gpu: str = ""  # 8.6, or a card's name
    march: str = ""
    base: str = ""  # ubuntu:18.04, debian:12, nvidia

    def __post_init__(self) -> None:
        for key in self.__struct_fields__:
            value = getattr(self, key)
            if value and not _SAFE.fullmatch(value):
                raise UnsafeValueError(
                    f"--{key.replace('_', '-')} does not accept {value[:40]!r}",
                    "a value may hold letters, digits, spaces and . : _ + - only",
                    "write a plain version or name",
                )

    def given(self) -> dict[str, str]:
        """Only the choices that were made."""
        return {k: getattr(self, k) for k in self.__struct_fields__ if getattr(self, k)}


class Toolchain(msgspec.Struct, frozen=True):
    """Everything that a target is built or run with."""

    target: Target
    choices: Choices
    values: dict[str, Chosen]

    def get(self, key: str) -> str:
        """The value of a key, or an empty string where the target has none."""
        return self.values[key].value if key in self.values else ""


def matches(version: str, wanted: str) -> bool:
    """Whether `version` is `wanted` or a more exact form of it: 11.3.1 is 11.3, 11.30 is not."""
    return version == wanted or version.startswith(wanted + ".")
