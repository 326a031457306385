"""The options that narrow a toolchain, wherever a command takes a TARGET."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from tfenv.toolchain.model import Choices

_F = TypeVar("_F", bound=Callable[..., Any])

_OPTIONS = (
    ("python", "A Python that the release supports, e.g. 3.9."),
    ("numpy", "A numpy version."),
    ("compiler", "A compiler, e.g. gcc-8 or clang-18."),
    ("bazel", "A Bazel inside the release's bounds."),
    ("bazel-via", "How Bazel comes: bazelisk, installer or binary."),
    ("cuda", "A CUDA version, e.g. 11.2."),
    ("cudnn", "A cuDNN version, e.g. 8.1."),
    ("gpu", "A card or compute capability: 8.6, rtx3090."),
    ("march", "The processor to compile for, e.g. native or haswell."),
    ("base", "The base system: ubuntu:18.04, debian:12, nvidia, ubuntu or debian."),
)


def choices(function: _F) -> _F:
    """Add every choice option to a command."""
    for name, text in reversed(_OPTIONS):
        option = click.option(f"--{name}", default="", metavar=name.upper(), help=text)
        function = option(function)
    return function


def collect(values: dict[str, str]) -> Choices:
    """The choices out of a command's keyword arguments."""
    from tfenv.toolchain.model import Choices

    names = {name.replace("-", "_") for name, _ in _OPTIONS}
    return Choices(**{k: v for k, v in values.items() if k in names})


def given(values: dict[str, str]) -> dict[str, str]:
    """The choices that were made, by the names of their options."""
    names = (name for name, _ in _OPTIONS)
    found = {name: values.get(name.replace("-", "_"), "") for name in names}
    return {name: value for name, value in found.items() if value}
