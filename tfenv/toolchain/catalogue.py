"""The catalogue as a person wants it: one line per target, filtered."""

from __future__ import annotations

import functools

import msgspec

from tfenv import facts, listing
from tfenv.errors import UsageError
from tfenv.facts import schema
from tfenv.facts.versions import specifier
from tfenv.listing import Entry
from tfenv.target import PLATFORM_OF_WORD, Target, catalogue, within
from tfenv.toolchain import buildtool, cards, cuda, gpu, lookup
from tfenv.toolchain.python import supported_pythons

_LEVELS = ("rendered", "evaluated", "built", "imported", "checked", "verified")


class Filter(msgspec.Struct, frozen=True):
    """What the user wants to see; an empty string means all."""

    tf: str = ""
    variant: str = ""
    platform: str = ""
    product: str = ""
    gpu: str = ""
    python: str = ""


def entries() -> list[Entry]:
    """The line of every target, oldest release first."""
    return [entry(target) for target in catalogue().values()]


def matching(wanted: Filter) -> list[Entry]:
    """The targets that pass a filter.

    Raises:
        ConflictError: the filter names a card that is not known.
        UsageError: the filter names a platform or a version range that does not exist.
    """
    spec = _specifier(wanted.tf)
    platform = _platform(wanted.platform)
    sm = gpu.capability(wanted.gpu)[0] if wanted.gpu else ""
    return [
        entry
        for entry in listing.read()
        if (not wanted.variant or entry.variant == wanted.variant)
        and (not platform or entry.platform == platform)
        and (not wanted.product or entry.product == wanted.product)
        and (not spec or within(entry.version, spec))
        and (not wanted.python or wanted.python in entry.pythons)
        and (not sm or cards.compiles_for(catalogue()[entry.name], sm))
    ]


def _specifier(text: str) -> str:
    if not text:
        return ""
    if text[0].isdigit():
        text = f"=={text}.*" if text.count(".") < 2 else f"=={text}"
    try:
        specifier(text)
    except ValueError as error:
        raise UsageError(
            f"--tf {text[:40]} is not a version range", str(error), "for example --tf '>=2.4,<2.7'"
        ) from error
    return text


def _platform(text: str) -> str:
    if not text:
        return ""
    words = {**PLATFORM_OF_WORD, "linux": "linux-x86_64"}
    if text in words:
        return words[text]
    if text in words.values():
        return text
    known = ", ".join(word for word in words if word)
    raise UsageError(f"--platform {text[:40]} is not known", f"known are {known}", "choose one")


def entry(target: Target) -> Entry:
    """The line of one target."""
    pythons = supported_pythons(target)[0]
    preferred = lookup.preference(target, "python")
    default = preferred.value if preferred and preferred.value in pythons else pythons[-1]
    known = lookup.builder(target)
    cmake = known.build_tool_version if known and known.build_tool == "cmake" else ""
    limit = buildtool.bound(target)
    bazel = (limit.file if limit else "") or (known.build_tool_version if known else "")
    pairs = cuda.pairs(target) if target.cuda else []
    row = lookup.any_wheel(target)
    return Entry(
        name=target.name,
        version=target.version,
        variant=target.variant,
        platform=target.platform,
        product=target.product,
        distribution=row.distribution if row else "",
        python=default,
        pythons=list(pythons),
        bazel="" if cmake else bazel,
        cmake=cmake,
        cuda=pairs[0].cuda if pairs else "",
        proven=proven_level(target.name),
    )


@functools.cache
def _proofs() -> dict[str, list[schema.Proof]]:
    table: dict[str, list[schema.Proof]] = {}
    for row in facts.rows(schema.Proof):
        table.setdefault(row.target, []).append(row)
    return table


def proofs(name: str) -> list[schema.Proof]:
    """What has been proven of a target, the least first."""
    return sorted(_proofs().get(name, []), key=lambda row: _LEVELS.index(row.level))


def proven_level(name: str) -> str:
    """How far a target was proven; all of them are rendered by the tests of every change."""
    found = proofs(name)
    return found[-1].level if found else "rendered"


def defects(target: Target) -> list[schema.Defect]:
    """Known upstream defects of the release on that platform."""
    return [
        row
        for row in facts.rows(schema.Defect)
        if within(target.version, row.versions)
        and (not row.platforms or target.platform in row.platforms)
    ]


def write() -> None:
    """Write the catalogue's file from the facts, and the bare names that the noxfile reads."""
    from tfenv.files import write_text

    write_text(listing.FILE, listing.render(entries()))
    names = "".join(f"{name}\n" for name in catalogue())
    write_text(listing.FILE.with_name("targets.txt"), names)


if __name__ == "__main__":
    write()
