"""Which rows of the facts speak about a target."""

from __future__ import annotations

import functools

from tfenv import facts
from tfenv.facts import schema
from tfenv.facts.pinned import PythonPins, parse, shipped, stem
from tfenv.target import Target, version_key, within


@functools.cache
def wheel(target: Target) -> schema.Wheel | None:
    """The released wheels that carry a target.

    cuda is `tensorflow-gpu` before 2.1 and on Windows, else `tensorflow`; cpu is
    `tensorflow-cpu` where the version has one, else `tensorflow`.
    """
    found = {
        row.distribution: row
        for row in facts.rows(schema.Wheel)
        if row.version == target.version
        and row.platform == target.platform
        and row.variant == target.variant
        and not row.stub
    }
    first = "tensorflow-cpu"
    if target.cuda:
        new = within(target.version, ">=2.1") and target.linux
        first = "tensorflow" if new else "tensorflow-gpu"
    for name in (first, "tensorflow", *sorted(found)):
        if name in found:
            return found[name]
    return None


@functools.cache
def any_wheel(target: Target) -> schema.Wheel | None:
    """A wheel of the target, or the nearest thing: the same version on that platform."""
    exact = wheel(target)
    if exact is not None:
        return exact
    same = [
        row
        for row in facts.rows(schema.Wheel)
        if row.version == target.version and row.platform == target.platform and not row.stub
    ]
    return min(same, key=lambda row: row.distribution, default=None)


def requirement(target: Target) -> str:
    """What is asked of the package index for a target, or an empty string.

    From 2.14 on the CUDA libraries come by the extra `and-cuda` of the Linux wheel.
    """
    row = any_wheel(target)
    if row is None:
        return ""
    extra = "[and-cuda]" if target.cuda and _has_cuda_extra(target) else ""
    return f"{row.distribution}{extra}=={row.version}"


def _has_cuda_extra(target: Target) -> bool:
    # Requires-Dist of the wheels names the extra from 2.14.0 on. In 2.14 and 2.15.0 it asks for a
    # tensorrt that the index never carried as a wheel, so it is used from 2.15.1 on.
    return target.platform == "linux-x86_64" and within(target.version, ">=2.15.1")


@functools.cache
def tested(target: Target) -> schema.Tested | None:
    """The newest tested configuration of the target's minor that is not newer than it."""
    minor = version_key(target.version).release[:2]
    found = [
        row
        for row in facts.rows(schema.Tested)
        if row.platform == target.platform
        and row.variant == target.variant
        and version_key(row.version).release[:2] == minor
    ]
    known = [r for r in found if version_key(r.version) <= version_key(target.version)] or found
    return max(known, key=lambda row: version_key(row.version), default=None)


@functools.cache
def build_info(target: Target) -> schema.BuildInfo | None:
    """What the target's released wheel says about itself."""
    row = wheel(target)
    if row is None:
        return None
    for info in facts.rows(schema.BuildInfo):
        if (info.distribution, info.version, info.platform) == (
            row.distribution,
            row.version,
            row.platform,
        ):
            return info
    return None


def preference(target: Target, key: str) -> schema.Preference | None:
    """A default that the facts prefer to the general rule's."""
    for row in facts.rows(schema.Preference):
        if row.key == key and within(target.version, row.versions):
            return row
    return None


def pins(target: Target, python: str) -> tuple[schema.Pin, ...]:
    """The effective pins of a release on a Python."""
    return tuple(
        row
        for row in facts.rows(schema.Pin)
        if within(target.version, row.versions) and within(python, row.pythons)
    )


@functools.cache
def python_lock(target: Target, python: str) -> tuple[str, PythonPins] | None:
    """The shipped Python lock of a target: its file name and content."""
    wanted = requirement(target)
    if not wanted:
        return None
    file = stem(wanted, python, target.platform) + ".txt"
    text = shipped(file)
    return (file, parse(text, file)) if text is not None else None
