"""The nearest compiler or base system that works, found by trying: for refusals that name it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec

from tfenv import facts
from tfenv.errors import ConflictError
from tfenv.facts import schema
from tfenv.target import Target, distance
from tfenv.toolchain import lookup
from tfenv.toolchain.base import compiler_major
from tfenv.toolchain.model import Choices


def working(target: Target, choices: Choices, choose: Callable[[Choices], object]) -> str:
    """What to choose instead, as options.

    Args:
        target: what is built.
        choices: what was refused.
        choose: raises ConflictError for choices that are refused.
    """
    for compiler, base in _candidates(target, choices):
        try:
            choose(msgspec.structs.replace(choices, compiler=compiler, base=base))
        except ConflictError:
            continue
        return _words(choices, compiler, base, _tested(target))
    return "leave --compiler and --base out"


def _candidates(target: Target, choices: Choices) -> Iterator[tuple[str, str]]:
    """Compiler and base system: one thing changed before both, near before far."""
    compilers = _compilers(target, choices.compiler)
    if choices.compiler:
        yield from ((compiler, choices.base) for compiler in compilers)
    if choices.base:
        yield from ((choices.compiler, row.name) for row in facts.rows(schema.BaseOs))
        yield from ((compiler, choices.base) for compiler in compilers)
    yield from ((compiler, "") for compiler in compilers)


def _compilers(target: Target, asked: str) -> list[str]:
    """Compilers that some base system has; the nearest of the asked family, then the tested one."""
    tested = _tested(target)
    family, _, version = (asked.lower().replace(" ", "-") or tested).partition("-")
    systems = facts.rows(schema.BaseOs)
    majors = {
        "gcc": {m for s in systems for m in (*s.gccs, compiler_major("gcc", s.gcc))},
        "clang": {m for s in systems for m in s.clangs},
    }
    # Of two that are equally near, always the same one.
    near = sorted(majors.get(family, ()), key=lambda major: (_gap(major, version), major))
    found = [f"{family}-{major}" for major in near]
    return list(dict.fromkeys([*found, tested] if asked else [tested, *found]))


def _tested(target: Target) -> str:
    known = lookup.builder(target)
    if known is None:
        return ""
    return f"{known.compiler}-{compiler_major(known.compiler, known.compiler_version)}"


def _gap(one: str, other: str) -> tuple[int, ...]:
    try:
        return distance(one, other)
    except ValueError:  # what was asked for is no version
        return ()


def _words(choices: Choices, compiler: str, base: str, tested: str) -> str:
    said = []
    if compiler != choices.compiler:
        said.append(f"--compiler {compiler}")
    if base != choices.base:
        said.append(f"--base {base}" if base else "without --base")
    other = tested and compiler not in (choices.compiler, tested)
    return ", ".join(said) + (f" (TensorFlow tested {tested})" if other else "")
