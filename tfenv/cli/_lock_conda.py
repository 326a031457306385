"""`tfenv lock --format conda`: solve a target's conda environments, and keep each build's hash."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tfenv.target import Target
    from tfenv.toolchain.model import Choices


def lock_conda(
    target: Target, choices: Choices, mirror: str, channels: tuple[str, ...], output: Path | None
) -> dict[str, Any]:
    """Solve, and write `DIR/<target>/conda/conda-<subdir>.<purpose>.lock` where DIR is given.

    Args:
        target: the target; its platform need not be this machine's.
        choices: what the user narrowed.
        mirror: a `--mirror` option.
        channels: channels to take, together, instead of conda-forge or its mirror.
        output: the folder, or None to write nothing.

    Raises:
        ConflictError: the channels have no set of builds that fits; the solver's reason is given.
        DownloadError: neither the mirror nor conda-forge itself can be read.
    """
    import msgspec

    from tfenv import lock, render
    from tfenv.files import write_text
    from tfenv.lock.pins import SUBDIR
    from tfenv.lock.resolve_conda import explicit, solve_somewhere
    from tfenv.render import conda, mirrors, plan, safety

    ready = plan.make(lock.for_target(target, choices), mirrors.parse(mirror))
    given = [safety.url(channel, "--channel") for channel in channels]
    place = conda.mirror(ready)
    places = [given] if given else [[f"{place}/conda-forge"]] * bool(place) + [["conda-forge"]]
    subdir = SUBDIR[target.platform]
    # The machine that will use the environment has a driver for the toolchain's CUDA.
    virtual = {"__cuda": ready.cuda_minor} if target.cuda else {}
    document: dict[str, Any] = {"target": target.name, "format": "conda", "subdir": subdir}
    document["environments"] = {}
    for purpose in conda.able(ready, render.PURPOSES):
        specs = conda.packages(ready, purpose)
        document["channels"], builds = solve_somewhere(specs, places, subdir, virtual)
        document["environments"][purpose] = [msgspec.to_builtins(build) for build in builds]
        if output is not None:
            name = f"conda-{subdir}.{purpose}.lock"
            write_text(output / target.name / "conda" / name, explicit(builds))
    return document


def tell(document: dict[str, Any]) -> list[str]:
    """The document for a terminal."""
    lines = [f"{document['target']}: {document['subdir']} from {', '.join(document['channels'])}"]
    for purpose, builds in document["environments"].items():
        lines.append(f"  {purpose}: {len(builds)} packages")
        lines += [f"    {b['name']} {b['version']} {b['build']}" for b in builds]
    return lines
