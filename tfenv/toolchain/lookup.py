"""Which rows of the facts speak about a target."""

from __future__ import annotations

import functools

from tfenv import facts
from tfenv.facts import schema
from tfenv.facts.pinned import PythonPins, parse, shipped, stem
from tfenv.facts.versions import tree
from tfenv.target import Target, version_key, within


@functools.cache
def wheel(target: Target) -> schema.Wheel | None:
    """The released wheels that carry a target.

    cuda is `tensorflow-gpu` before 2.1 and on Windows, else `tensorflow`; cpu is
    `tensorflow-cpu` where the version has one, else `tensorflow`.
    """
    found = {row.distribution: row for row in _wheels(target) if row.variant == target.variant}
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
    return min(_wheels(target), key=lambda row: row.distribution, default=None)


def _wheels(target: Target) -> list[schema.Wheel]:
    rows = facts.grouped(schema.Wheel, "version", "platform")
    return [row for row in rows.get((target.version, target.platform), ()) if not row.stub]


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
    # tensorrt that the index never carried as a wheel, so it is used from 2.15.0.post1 on.
    return target.platform == "linux-x86_64" and within(target.version, ">=2.15.0.post1")


# Where a platform has no tested configuration of its own, the same tree's on its sister platform
# is the nearest thing that is documented: same compiler family, same Bazel.
_SISTER: dict[schema.Platform, schema.Platform] = {
    "linux-aarch64": "linux-x86_64",
    "macos-arm64": "macos-x86_64",
}


@functools.cache
def tested(target: Target) -> schema.Tested | None:
    """The tested configuration that speaks about a target.

    That is the newest of the target's minor that is not newer than the target. A CPU target whose
    minor has none takes its sister platform's, else the newest older minor's; `tested_words` says
    so. CUDA is never carried from one minor to another.
    """
    own = _tested_rows(target.platform, target.variant)
    sister = _SISTER.get(target.platform)
    kin = _tested_rows(sister, target.variant) if sister else ()
    for rows in (own, kin):
        if found := _of_minor(rows, target):
            return found
    if target.cuda:
        return None
    older = [r for r in (*own, *kin) if version_key(r.version) < version_key(target.version)]
    return max(older, key=lambda row: version_key(row.version), default=None)


@functools.cache
def builder(target: Target) -> schema.Tested | None:
    """The tested configuration whose compiler and build tool a target takes.

    A CUDA target whose minor nobody tested takes the newest older minor's, if a pair in
    `cuda-pairs.toml` says which CUDA it was built with: CUDA itself is never carried.
    """
    found = tested(target)
    if found is not None or not target.cuda or not _has_pair(target):
        return found
    rows = _tested_rows(target.platform, target.variant)
    older = [r for r in rows if version_key(r.version) < version_key(target.version)]
    return max(older, key=lambda row: version_key(row.version), default=None)


def _has_pair(target: Target) -> bool:
    return any(
        within(target.version, row.versions)
        and (not row.platforms or target.platform in row.platforms)
        for row in facts.rows(schema.CudaPair)
    )


def _tested_rows(platform: schema.Platform, variant: schema.Variant) -> tuple[schema.Tested, ...]:
    return facts.grouped(schema.Tested, "platform", "variant").get((platform, variant), ())


def _of_minor(rows: tuple[schema.Tested, ...], target: Target) -> schema.Tested | None:
    minor = version_key(target.version).release[:2]
    found = [row for row in rows if version_key(row.version).release[:2] == minor]
    known = [r for r in found if version_key(r.version) <= version_key(target.version)] or found
    return max(known, key=lambda row: version_key(row.version), default=None)


def tested_words(target: Target, row: schema.Tested, what: str) -> str:
    """Where `what` is known from, and how near that configuration is to the target.

    >>> from tfenv.target import parse
    >>> target = parse("2.6.5-cpu")
    >>> tested_words(target, tested(target), "GCC 7.3.1")
    'TensorFlow tested GCC 7.3.1 for 2.6.0'
    """
    same_minor = version_key(row.version).release[:2] == version_key(target.version).release[:2]
    if row.platform == target.platform and same_minor:
        return f"TensorFlow tested {what} for {row.version}"
    where = "" if row.platform == target.platform else f" on {row.platform}"
    return (
        f"TensorFlow documents no tested build of {target.version} on {target.platform}; "
        f"the nearest, {row.version}'s{where}, has {what}"
    )


@functools.cache
def build_info(target: Target) -> schema.BuildInfo | None:
    """What the target's released wheel says about itself."""
    row = wheel(target)
    if row is None:
        return None
    rows = facts.grouped(schema.BuildInfo, "distribution", "version", "platform")
    return next(iter(rows.get((row.distribution, tree(row.version), row.platform), ())), None)


def preference(target: Target, key: str) -> schema.Preference | None:
    """A default that the facts prefer to the general rule's."""
    for row in facts.rows(schema.Preference):
        if row.key == key and within(target.version, row.versions):
            return row
    return None


@functools.cache
def pins(target: Target, python: str) -> tuple[schema.Pin, ...]:
    """The effective pins of a release on a Python."""
    return tuple(
        row
        for row in facts.rows(schema.Pin)
        if within(target.version, row.versions) and within(python, row.pythons)
    )


def asks_for(target: Target, package: str) -> list[tuple[str, str]]:
    """What the release's own metadata asks of a package: the requirement, and its source."""
    rows = facts.grouped(schema.Requires, "version").get((target.version,), ())
    return [
        (text, row.source)
        for row in rows
        for text in row.requires
        if text.startswith(package) and not _goes_on(text[len(package) :])
    ]


def _goes_on(rest: str) -> bool:
    """Whether a name goes on: numpy is not numpy-financial."""
    return rest[:1].isalnum() or rest[:1] == "-"


@functools.cache
def python_lock(target: Target, python: str) -> tuple[str, PythonPins] | None:
    """The shipped Python lock of a target: its file name and content."""
    wanted = requirement(target)
    if not wanted:
        return None
    file = stem(wanted, python, target.platform) + ".txt"
    text = shipped(file)
    return (file, parse(text, file)) if text is not None else None
