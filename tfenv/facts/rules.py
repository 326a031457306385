"""What every row of every facts table has to satisfy on its own, by the name of the field."""

from __future__ import annotations

import base64
import binascii
import functools
import re
from collections.abc import Callable, Iterator
from datetime import date

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

from tfenv.facts import schema

# Versions that are not versions: a compiler's ("2015 update 3"), a bound's file, a nixpkgs list.
_FREE_VERSIONS: tuple[type[schema.Row], ...] = (schema.NixAttribute,)
# Tables whose empty hash or address says only "a lock file elsewhere did not give it".
_SPARSE: tuple[type[schema.Row], ...] = (schema.CondaPackage,)


def problems(row: schema.Row) -> Iterator[str]:
    """What is wrong with one row, one line each."""
    if not row.source.strip():
        yield "no source"
    for name in type(row).__struct_fields__:
        value = getattr(row, name)
        if isinstance(value, str):
            yield from _text(name, value)
            if value and (rule := _RULES.get(name)) and not rule(value):
                yield f"{name} is malformed: {value!r}"
        elif isinstance(value, list):
            yield from _list(name, value)
    yield from _version(row)
    yield from _url(row)
    yield from _hash(row)


def _text(name: str, value: str) -> Iterator[str]:
    if value != value.strip() or not value.isprintable():
        yield f"{name} has blanks around it or a control character: {value!r}"


def _list(name: str, value: list[str]) -> Iterator[str]:
    if len(set(value)) != len(value):
        yield f"{name} names something twice: {value}"
    rule = _ITEMS.get(name)
    yield from (f"{name} has a malformed item: {v!r}" for v in value if rule and not rule(v))
    if name in {"pythons", "sm"} and value != sorted(value, key=_numbers):
        yield f"{name} is not sorted, oldest first: {value}"


def _version(row: schema.Row) -> Iterator[str]:
    value = getattr(row, "version", "")
    if value and not isinstance(row, _FREE_VERSIONS) and not is_version(value):
        yield f"version is malformed: {value!r}"


def _url(row: schema.Row) -> Iterator[str]:
    for name in ("url", "second_url"):
        value = getattr(row, name, "")
        if value.startswith("http://") and not row.note:
            yield f"{name} is not https and no note says why: {value}"
        elif value and not re.fullmatch(r"https?://[^\s\"'`$<>\\]+", value):
            yield f"{name} is not an https address: {value!r}"
    serving = getattr(row, "status", "serving") == "serving"
    needs = hasattr(row, "url") and not isinstance(row, _SPARSE) and serving
    if needs and not getattr(row, "url", "") and not row.note:
        yield "no url, and no note says why"


def _hash(row: schema.Row) -> Iterator[str]:
    if isinstance(row, _SPARSE) or not hasattr(row, "sha256"):
        return
    if not getattr(row, "sha256", "") and not row.note:
        yield "no sha256, and no note says why"
    if bool(getattr(row, "second_url", "")) != bool(getattr(row, "second_sha256", "")):
        yield "second_url and second_sha256 go together"


def _matches(pattern: str) -> Callable[[str], bool]:
    compiled = re.compile(pattern)
    return lambda value: compiled.fullmatch(value) is not None


def _is_nar_hash(value: str) -> bool:
    """Whether `value` is an SRI hash: sha256- and 32 bytes in base64."""
    algorithm, _, text = value.partition("-")
    try:
        return algorithm == "sha256" and len(base64.b64decode(text, validate=True)) == 32
    except binascii.Error:
        return False


@functools.cache
def is_version(value: str) -> bool:
    """Whether PEP 440 reads it as a version."""
    try:
        Version(value)
    except InvalidVersion:
        return False
    return True


@functools.cache
def is_specifier(value: str) -> bool:
    """Whether PEP 440 reads it as a version specifier."""
    try:
        SpecifierSet(value)
    except InvalidSpecifier:
        return False
    return True


def _is_requirement(value: str) -> bool:
    try:
        Requirement(value)
    except InvalidRequirement:
        return False
    return True


def _is_date(value: str) -> bool:
    try:
        return date.fromisoformat(value).isoformat() == value
    except ValueError:
        return False


def _numbers(value: str) -> tuple[int, ...]:
    return tuple(int(n) for n in re.findall(r"\d+", value))


_SHA256 = _matches(r"[0-9a-f]{64}")
_COMMIT = _matches(r"[0-9a-f]{40}")
_MINOR = _matches(r"\d+\.\d+")
_RULES: dict[str, Callable[[str], bool]] = {
    "sha256": _SHA256,
    "second_sha256": _SHA256,
    "md5": _matches(r"[0-9a-f]{32}"),
    "digest": _matches(r"sha256:[0-9a-f]{64}"),
    "nar_hash": _is_nar_hash,
    "rev": _COMMIT,
    "commit": _COMMIT,
    "capability": _MINOR,
    "min": is_version,
    "max": is_version,
    "cuda": is_version,
    "cudnn": is_version,
    "build_tool_version": is_version,
    "gcc_max": is_version,
    "gcc_min": is_version,
    "driver_linux_min": is_version,
    "clang": is_specifier,
    "msc_ver": is_specifier,
    "versions": is_specifier,
    "constraint": is_specifier,
    "range": is_specifier,
    "pythons": is_specifier,
    "requires_python": is_specifier,
    "date": _is_date,
    "release": _matches(r"\d\d\.\d\d(pre)?"),
}
_ITEMS: dict[str, Callable[[str], bool]] = {
    "requires": _is_requirement,
    "pythons": _matches(r"3\.\d+"),
    "sm": _MINOR,
    "capabilities": _matches(r"(sm|compute)_\d+[af]?"),
    "aliases": _matches(r"[a-z0-9]+"),
    "driver_linux": _matches(r"[\d.]+(\+updates)?:[\d.]+"),
    "driver_windows": _matches(r"[\d.]+(\+updates)?:[\d.]+"),
}
