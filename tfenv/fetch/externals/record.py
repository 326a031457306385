"""Recorded calls -> external archives: name, addresses, hash, patches, where declared."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from tfenv.fetch.externals.evaluate import Call, Evaluation, Unread
from tfenv.fetch.item import Item

_SHA256 = re.compile(r"[0-9a-f]{64}")
# `urls` and `sha256`, and the same with a word before: jar_urls of java_import_external,
# linux_urls of rules that choose by platform.
_URLS = re.compile(r"(?P<part>[a-z0-9_]*?)_?urls?")


class External(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One archive that Bazel would download."""

    name: str
    rule: str
    urls: list[str]
    sha256: str = ""
    strip_prefix: str = ""
    patches: list[str] = []
    type: str = ""
    canonical_id: str = ""
    part: str = ""  # jar, srcjar, linux, ... where one rule has several files
    defined_in: str = ""  # file:line
    reached_by: str = ""


class NotAnArchive(msgspec.Struct, frozen=True, kw_only=True):
    """Something that Bazel would fetch without a hash, so that no cache can serve it."""

    name: str
    rule: str
    source: str
    defined_in: str = ""


class Externals(msgspec.Struct, frozen=True, kw_only=True):
    """All that a tree would download, as far as it can be read."""

    archives: list[External]
    unhashed: list[NotAnArchive] = []
    unread: list[Unread] = []
    failures: list[str] = []

    def items(self) -> list[Item]:
        """The archives as downloads; one per hash."""
        return [
            Item(
                name=one.name,
                kind="bazel-external",
                sha256=one.sha256,
                urls=one.urls,
                canonical_id=one.canonical_id,
            )
            for one in self.archives
        ]

    def by_name(self) -> Mapping[str, External]:
        """Archives by repository name; of several declarations the first, as Bazel takes it."""
        found: dict[str, External] = {}
        for one in self.archives:
            if not one.part:
                found.setdefault(one.name, one)
        return found


def externals(evaluation: Evaluation) -> Externals:
    """Sort out what was recorded."""
    archives: list[External] = []
    unhashed: list[NotAnArchive] = []
    for call in evaluation.calls:
        for one in _of(call):
            if isinstance(one, External):
                archives.append(one)
            else:
                unhashed.append(one)
    return Externals(
        archives=archives,
        unhashed=unhashed,
        unread=evaluation.unread,
        failures=evaluation.failures,
    )


def _of(call: Call) -> Iterator[External | NotAnArchive]:
    arguments = call.arguments
    name = arguments.get("name")
    if not isinstance(name, str):
        return
    where = _where(call)
    if isinstance(arguments.get("remote"), str):
        pinned = _text(arguments, "commit") or _text(arguments, "tag") or _text(arguments, "branch")
        source = f"git {arguments['remote']} {pinned}".strip()
        yield NotAnArchive(name=name, rule=call.rule, source=source, defined_in=where[0])
        return
    if isinstance(arguments.get("digest"), str) and "repository" in arguments:
        source = f"{_text(arguments, 'registry')}/{arguments['repository']}@{arguments['digest']}"
        yield NotAnArchive(name=name, rule=call.rule, source=source, defined_in=where[0])
        return
    for part, urls, sha256 in _files(arguments):
        if not sha256:
            source = " ".join(urls)
            yield NotAnArchive(name=name, rule=call.rule, source=source, defined_in=where[0])
            continue
        yield External(
            name=name,
            rule=call.rule,
            urls=urls,
            sha256=sha256,
            strip_prefix=_text(arguments, "strip_prefix"),
            patches=_patches(arguments),
            type=_text(arguments, "type"),
            canonical_id=_text(arguments, "canonical_id"),
            part=part,
            defined_in=where[0],
            reached_by=where[1],
        )


def _where(call: Call) -> tuple[str, str]:
    if not call.frames:
        return "", ""
    file, line, _ = call.frames[-1]
    # A macro that wraps the rule is how, not where: the caller above it declares the archive.
    for outer in reversed(call.frames):
        if not outer[0].endswith(("third_party/repo.bzl", "//third_party:repo.bzl")):
            file, line, _ = outer
            break
    chain = " > ".join(f"{f}:{n}" for f, n, _ in call.frames)
    return f"{file}:{line}", chain


def _files(arguments: Mapping[str, Any]) -> Iterator[tuple[str, list[str], str]]:
    """The files of one rule: which part of it, addresses, sha256."""
    plain = [*_list(arguments.get("urls")), *_list(arguments.get("url"))]
    if plain:
        yield "", plain, _sha256(arguments, "")
    for key, value in arguments.items():
        found = _URLS.fullmatch(key)
        if key.startswith("sha256_urls") and isinstance(value, dict):
            part = key.removeprefix("sha256_urls").strip("_")
            for sha256, urls in value.items():
                yield part, _list(urls), sha256 if _SHA256.fullmatch(sha256) else ""
        elif found and found["part"] and _list(value):
            yield found["part"], _list(value), _sha256(arguments, found["part"])


def _sha256(arguments: Mapping[str, Any], part: str) -> str:
    keys = [f"{part}_sha256"] if part else ["sha256", "sha256sum"]
    for key in keys:
        value = _text(arguments, key).lower()
        if _SHA256.fullmatch(value):
            return value
    return _integrity(_text(arguments, f"{part}_integrity" if part else "integrity"))


def _integrity(text: str) -> str:
    """The sha256 of a subresource integrity string, or an empty string."""
    if not text.startswith("sha256-"):
        return ""
    try:
        raw = base64.b64decode(text.removeprefix("sha256-"), validate=True)
    except (binascii.Error, ValueError):
        return ""
    return raw.hex() if len(raw) == 32 else ""


def _patches(arguments: Mapping[str, Any]) -> list[str]:
    return [
        one for key in ("patch_file", "patch_files", "patches") for one in _list(arguments.get(key))
    ]


def _list(value: object) -> list[str]:
    if isinstance(value, str):
        return [value] if value else []
    if isinstance(value, (list, tuple)):
        return [one for one in value if isinstance(one, str) and one]
    return []


def _text(arguments: Mapping[str, Any], key: str) -> str:
    value = arguments.get(key)
    return value if isinstance(value, str) else ""
