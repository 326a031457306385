"""Which base system, and which compiler on it."""

from __future__ import annotations

import re

from tfenv import facts
from tfenv.errors import ConflictError
from tfenv.facts import schema
from tfenv.target import Target, within
from tfenv.toolchain import lookup
from tfenv.toolchain.model import Choices, Chosen, Rejected

FAMILY = {"gcc": "GCC", "clang": "Clang", "msvc": "MSVC", "xcode": "Xcode"}


def base_and_compiler(target: Target, choices: Choices) -> dict[str, Chosen]:
    """The base system and its compiler.

    Raises:
        ConflictError: they are refused; where another choice helps, without a fix: `choose` finds it.
    """
    known = lookup.builder(target)
    if known is None:
        raise ConflictError(
            f"no compiler is known for {target.name}",
            "TensorFlow's documents name no tested configuration for it",
            "see `tfenv list`",
        )
    if not target.linux:
        return _elsewhere(target, choices, known)
    family, major = _wanted_compiler(choices, known)
    system = _system(choices, family, major)
    compiler = _compiler(target, choices, known, (family, major), system)
    _refuse_conflicts(target, compiler.value)
    return {"base": system, "compiler": compiler}


def os_row(name: str) -> schema.BaseOs:
    """The facts of a base system."""
    return facts.grouped(schema.BaseOs, "name")[(name,)][0]


def _wanted_compiler(choices: Choices, known: schema.Tested) -> tuple[str, str]:
    if not choices.compiler:
        return known.compiler, compiler_major(known.compiler, known.compiler_version)
    family, _, version = choices.compiler.lower().replace(" ", "-").partition("-")
    if family not in ("gcc", "clang") or not re.fullmatch(r"\d+(\.\d+)*", version):
        raise ConflictError(
            f"--compiler {choices.compiler} is not a compiler for this target",
            "Linux targets are built by gcc or clang, written gcc-7 or clang-18",
            "",
        )
    return family, compiler_major(family, version)


def compiler_major(family: str, version: str) -> str:
    """The part of a version that names a compiler package: 4.8, but 7 of 7.5."""
    parts = version.split(".")
    if family == "gcc" and parts[0] == "4":
        return ".".join(parts[:2])
    return parts[0]


def _refuse_conflicts(target: Target, compiler: str) -> None:
    word, _, version = compiler.partition(" ")
    for row in facts.rows(schema.BuildConflict):
        if FAMILY.get(row.subject) != word or not within(target.version, row.versions):
            continue
        if certainly_within(version, row.range):
            raise ConflictError(
                f"{compiler} cannot build TensorFlow {target.version}",
                f"{row.reason} ({row.source})",
                "",
            )


def certainly_within(version: str, specifier: str) -> bool:
    """Whether a version is inside a range, whatever the parts that it leaves open."""
    return within(version, specifier) and within(f"{version}.99", specifier)


def _system(choices: Choices, family: str, major: str) -> Chosen:
    rows = facts.rows(schema.BaseOs)
    wanted = "" if choices.base in ("", "nvidia", "ubuntu", "debian") else choices.base
    if wanted and wanted not in {row.name for row in rows}:
        raise ConflictError(
            f"the base system {wanted} is not known",
            f"known are {', '.join(row.name for row in rows)}",
            "",
        )
    prefix = choices.base if choices.base in ("ubuntu", "debian") else ""
    allowed = [r for r in rows if (r.name == wanted if wanted else r.name.startswith(prefix))]
    ranked = sorted(allowed, key=lambda row: _fit(row, family, major))
    best = ranked[0]
    refused = tuple(
        Rejected(row.name, _os_reason(row, family, major), row.source)
        for row in rows
        if row.name != best.name
    )
    reason = _os_reason(best, family, major)
    rule = "user" if choices.base else "has-the-compiler"
    return Chosen(best.name, rule, reason, best.source, refused)


def _fit(row: schema.BaseOs, family: str, major: str) -> tuple[int, int]:
    """Smaller fits better: the default compiler, then one in the archive, then a newer one."""
    if family == "gcc":
        if compiler_major("gcc", row.gcc) == major:
            return (0, 0)
        if major in row.gccs:
            return (1, 0)
        return (3, abs(int(row.gcc.split(".")[0]) - int(major.split(".", maxsplit=1)[0])))
    have = [int(c) for c in row.clangs]
    if int(major) in have:
        return (0, 0)
    above = [c - int(major) for c in have if c > int(major)]
    below = [int(major) - c for c in have]
    return (2, min(above)) if above else (3, min(below, default=99))


def _os_reason(row: schema.BaseOs, family: str, major: str) -> str:
    name = f"{FAMILY[family]} {major}"
    rank, distance = _fit(row, family, major)
    if rank == 0 and family == "gcc":
        return f"its default compiler is GCC {row.gcc}, of the tested major"
    if rank <= 1:
        return f"its package archive has {name}"
    if rank == 2:
        return f"its package archive has a newer Clang, {distance} major(s) above {major}"
    return f"its package archive is not known to have {name}"


def _compiler(
    target: Target,
    choices: Choices,
    known: schema.Tested,
    wanted: tuple[str, str],
    system: Chosen,
) -> Chosen:
    family, major = wanted
    row = os_row(system.value)
    version = _version_on(row, family, major)
    if version is None:
        if choices.base and not choices.compiler:
            version = row.gcc if family == "gcc" else max(row.clangs, key=int, default="")
        if not version:
            raise ConflictError(
                f"{row.name} is not known to have {FAMILY[family]} {major}",
                f"its archive has gcc {', '.join(row.gccs)}; clang {', '.join(row.clangs) or '-'}",
                "",
            )
    tested = f"{FAMILY[known.compiler]} {known.compiler_version}"
    reason = lookup.tested_words(target, known, tested)
    reason += f"; {row.name} has {FAMILY[family]} {version}"
    if choices.compiler:
        reason = f"--compiler {choices.compiler}; {reason}"
    source = f"{known.source}; {row.source}"
    rejected = tuple(
        Rejected(f"{FAMILY[r.subject]} {r.range}", r.reason, r.source)
        for r in facts.rows(schema.BuildConflict)
        if r.subject in FAMILY and within(target.version, r.versions)
    )
    rule = "user" if choices.compiler else "tested-major"
    return Chosen(f"{FAMILY[family]} {version}", rule, reason, source, rejected)


def _version_on(row: schema.BaseOs, family: str, major: str) -> str | None:
    if family == "gcc":
        if compiler_major("gcc", row.gcc) == major:
            return row.gcc
        return major if major in row.gccs else None
    if major in row.clangs:
        return major
    above = [c for c in row.clangs if int(c) > int(major)]
    return min(above, key=int, default=None)


def _elsewhere(target: Target, choices: Choices, known: schema.Tested) -> dict[str, Chosen]:
    own = f"{known.compiler} {known.compiler_version}".lower().replace(" ", "-")
    wanted = choices.compiler.lower().replace(" ", "-")
    if choices.base or not f"{own}-".startswith(f"{wanted}-" if wanted else ""):
        raise ConflictError(
            f"{target.name} takes neither --base nor another --compiler",
            f"its compiler is the system's: {FAMILY[known.compiler]} {known.compiler_version}",
            "leave the option out",
        )
    system = "Windows" if target.platform.startswith("windows") else "macOS"
    value = f"{FAMILY[known.compiler]} {known.compiler_version}".strip()
    reason = f"the system's compiler: {lookup.tested_words(target, known, value)}"
    refused = tuple(
        Rejected(f"{system} {row.range}", row.reason, row.source)
        for row in facts.rows(schema.BuildConflict)
        if row.subject == system.lower() and within(target.version, row.versions)
    )
    platform = f"the target's platform is {target.platform}"
    return {
        "base": Chosen(system, "platform", platform, known.source, refused),
        "compiler": Chosen(value, "tested", reason, known.source),
    }
