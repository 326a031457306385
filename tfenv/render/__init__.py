"""Lock -> files. Pure: text in, text out; only `write` of the command line touches the disk."""

from __future__ import annotations

from tfenv.errors import ConflictError, UnpinnedError, UsageError
from tfenv.lock.model import Lock
from tfenv.lock.store import dumps
from tfenv.render import conda, docker, nix, safety, script
from tfenv.render.plan import OutFile, Plan

__all__ = ["FORMATS", "PURPOSES", "OutFile", "Plan", "formats_for", "render", "render_all"]

PURPOSES = ("build", "run")
_RENDERERS = {
    "nix": nix.files,
    "conda": conda.files,
    "docker": docker.files,
    "apptainer": docker.apptainer,
    "devcontainer": docker.devcontainer,
    "script": script.files,
}
FORMATS = tuple(_RENDERERS)


def render(plan: Plan, formats: tuple[str, ...], purposes: tuple[str, ...]) -> list[OutFile]:
    """The files of some formats, and the lock and the Python requirements beside them.

    Raises:
        ConflictError: a format cannot serve the target.
        UnsafeValueError: the lock holds a value that may not stand in a file.
        UsageError: a format or purpose is not known.
    """
    safety.check(plan.lock)
    found = [
        OutFile("lock.toml", "", "", dumps(plan.lock)),
        OutFile("requirements.txt", "", "", plan.requirements),
    ]
    for name in formats:
        if name not in _RENDERERS:
            raise UsageError(
                f"there is no format '{name[:40]}'",
                f"the formats are {', '.join(FORMATS)}",
                f"--format {FORMATS[0]}",
            )
        found += _RENDERERS[name](plan, purposes)
    return _once(found)


def render_all(plan: Plan, purposes: tuple[str, ...]) -> tuple[tuple[str, ...], list[OutFile]]:
    """The formats that can serve a target, and the files of them all.

    Raises:
        UnsafeValueError: the lock holds a value that may not stand in a file.
    """
    names, found = [], render(plan, (), purposes)
    for name in FORMATS:
        try:
            found += _RENDERERS[name](plan, purposes)
        except ConflictError:
            continue
        names.append(name)
    return tuple(names), _once(found)


def _once(files: list[OutFile]) -> list[OutFile]:
    """Formats that share a folder share files: each is written once."""
    return list({file.path: file for file in reversed(files)}.values())[::-1]


def formats_for(plan: Plan) -> tuple[str, ...]:
    """The formats that can serve a target."""
    return render_all(plan, PURPOSES)[0]


def refuse_unpinned(lock: Lock, formats: tuple[str, ...]) -> None:
    """`--strict`: refuse a lock with an artifact whose hash is not known.

    Raises:
        UnpinnedError: naming the artifacts.
    """
    loose = [
        a for a in lock.artifact if a.unpinned and (not a.formats or set(a.formats) & set(formats))
    ]
    if loose:
        names = ", ".join(f"{a.name} {a.version}" for a in loose)
        raise UnpinnedError(
            f"{lock.target} has downloads without a known hash: {names}",
            loose[0].unpinned,
            "leave --strict out, or choose versions whose hashes are known",
        )
