"""Which Python, and which Python packages."""

from __future__ import annotations

from tfenv.errors import ConflictError
from tfenv.facts.pinned import PythonPins
from tfenv.target import Target, version_key
from tfenv.toolchain import lookup
from tfenv.toolchain.model import Choices, Chosen, Rejected, matches

# A Python lock by its file's name.
Resolved = tuple[str, PythonPins]

# Packages whose drift breaks TensorFlow, and which people ask about by name.
PACKAGES = ("numpy", "protobuf", "keras", "h5py", "tensorboard", "setuptools")


def python(target: Target, choices: Choices) -> Chosen:
    """The Python: chosen by the user, preferred by the facts, or the newest supported."""
    supported, source = supported_pythons(target)
    if choices.python:
        return _chosen_python(target, choices.python, supported, source)
    preferred = lookup.preference(target, "python")
    if preferred is not None and preferred.value in supported:
        rest = _others(supported, preferred.value, "supported, and not the default", source)
        return Chosen(preferred.value, "preferred", preferred.reason, preferred.source, rest)
    newest = max(supported, key=version_key)
    reason = f"the newest Python of TensorFlow {target.version} ({', '.join(supported)})"
    rest = _others(supported, newest, "supported, and older than the default", source)
    return Chosen(newest, "newest-supported", reason, source, rest)


def supported_pythons(target: Target) -> tuple[list[str], str]:
    """The Pythons that a release has wheels for, else those that its documents name."""
    row = lookup.any_wheel(target)
    if row is not None and row.pythons:
        return _in_scope(
            target, row.pythons
        ), f"wheels of {row.distribution} {row.version}: {row.source}"
    known = lookup.tested(target)
    if known is not None and known.pythons:
        return _in_scope(target, known.pythons), known.source
    raise ConflictError(
        f"no Python is known for {target.name}",
        "neither a wheel nor a document of this release names one",
        "see `tfenv list` for the targets with wheels",
    )


def _in_scope(target: Target, pythons: list[str]) -> list[str]:
    """From 3.6 on. 1.4.0 for Windows with CUDA keeps 3.5, the first that its documents name."""
    if (target.version, target.platform, target.cuda) == ("1.4.0", "windows-x86_64", True):
        return pythons
    return [python for python in pythons if python != "3.5"]


def _chosen_python(target: Target, wanted: str, supported: list[str], source: str) -> Chosen:
    minor = ".".join(wanted.split(".")[:2])
    if minor in supported:
        rest = _others(supported, minor, "supported, and not chosen", source)
        return Chosen(minor, "user", f"--python {wanted}, which the release supports", source, rest)
    try:
        key = version_key(minor)
    except ValueError:
        key = version_key("0")
    near = min(supported, key=lambda p: _gap(version_key(p).release, key.release))
    raise ConflictError(
        f"TensorFlow {target.version} does not support Python {wanted} on {target.platform}",
        f"it supports {', '.join(supported)} ({source})",
        f"--python {near}",
    )


def _gap(one: tuple[int, ...], other: tuple[int, ...]) -> tuple[int, int]:
    a, b = (*one, 0)[:2], (*other, 0)[:2]
    return abs(a[0] - b[0]), abs(a[1] - b[1])


def _others(values: list[str], taken: str, reason: str, source: str) -> tuple[Rejected, ...]:
    return tuple(Rejected(v, reason, source) for v in values if v != taken)


def packages(
    target: Target, choices: Choices, python_version: str, resolved: Resolved | None
) -> dict[str, Chosen]:
    """The versions of the packages that matter, as the Python lock pins them."""
    found = resolved or lookup.python_lock(target, python_version)
    if found is None:
        return {"numpy": _unlocked(target, choices, python_version)}
    file, lock = found
    as_of = lock.header.get("as-of", "")
    bounds = {pin.package: pin for pin in lookup.pins(target, python_version)}
    chosen: dict[str, Chosen] = {}
    for name in PACKAGES:
        version = lock.version_of(name)
        if not version:
            continue
        reason = f"newest that {lock.header.get('requirement', '')} accepts, index as of {as_of}"
        if method := lock.header.get("method"):
            reason += f"; {method}"
        rejected = _out_of_bounds(target, name)
        if pin := bounds.get(name):
            reason += f"; effective pin {pin.package}{pin.constraint}"
            refused = Rejected(f"other than {pin.constraint}", pin.symptom, pin.source)
            rejected = (refused, *rejected)
        chosen[name] = Chosen(version, "python-lock", reason, f"locks/python/{file}", rejected)
    _check_numpy(target, choices, chosen)
    return chosen


def _out_of_bounds(target: Target, package: str) -> tuple[Rejected, ...]:
    """What the release's own metadata does not let in."""
    found = []
    for text, source in lookup.asks_for(target, package):
        bound, _, marker = text.removeprefix(package).partition("; ")
        where = f" where {marker}" if marker else ""
        if bound:
            reason = f"the metadata of TensorFlow {target.version} asks for {bound}{where}"
            found.append(Rejected(f"other than {bound}", reason, source))
    return tuple(found)


def _unlocked(target: Target, choices: Choices, python_version: str) -> Chosen:
    if choices.numpy:
        raise _needs_lock(target, f"numpy {choices.numpy}")
    reason = f"no Python lock for Python {python_version} is shipped; `tfenv lock {target.name}`"
    return Chosen("unlocked", "python-lock", reason, "tfenv/locks/python")


def _check_numpy(target: Target, choices: Choices, chosen: dict[str, Chosen]) -> None:
    if not choices.numpy or matches(chosen["numpy"].value, choices.numpy):
        return
    raise _needs_lock(target, f"numpy {choices.numpy} instead of {chosen['numpy'].value}")


def _needs_lock(target: Target, what: str) -> ConflictError:
    return ConflictError(
        f"the shipped lock of {target.name} does not hold {what}",
        "other versions must be resolved against a package index first",
        f"run `tfenv lock {target.name} -o DIR` with the same choices, then `generate --lock FILE`",
    )
