"""Lock -> environment.yml, one per purpose."""

from __future__ import annotations

import re

from tfenv.errors import ConflictError
from tfenv.facts import schema
from tfenv.lock.pins import SUBDIR, conda_builds
from tfenv.render import engine, recipe
from tfenv.render.plan import OutFile, Plan
from tfenv.target import version_key
from tfenv.toolchain.base import compiler_major
from tfenv.toolchain.model import matches

CHANNELS = ("conda-forge", "nodefaults")


def files(plan: Plan, purposes: tuple[str, ...]) -> list[OutFile]:
    """The files of the format conda.

    Raises:
        ConflictError: conda cannot build the target, or has no CUDA for it.
    """
    purposes = able(plan, purposes)
    if not purposes:
        raise ConflictError(
            f"conda cannot build {plan.target.name}",
            "what a build needs on Windows (MSYS2, Visual Studio, nvcc) is not on conda-forge",
            "choose --format script, or --purpose run",
        )
    found = [_file("requirements.txt", plan.requirements, "")]
    found += [
        _file(f"environment.{purpose}.yml", _environment(plan, purpose), purpose)
        for purpose in purposes
    ]
    if mirror(plan):
        found.append(
            _file(
                "mirror.condarc",
                engine.render("conda/mirror.condarc.j2", {"mirror": mirror(plan)}),
                "",
            )
        )
    if plan.build_requirements:
        found.append(_file("requirements.tools.txt", plan.build_requirements, ""))
    if "build" in purposes:
        found.append(_file("requirements.build.txt", plan.build_environment(), "build"))
        found.append(
            OutFile("conda/build.sh", "conda", "build", recipe.script(plan), executable=True)
        )
    if "run" in purposes:
        name = "postinstall.ps1" if _windows(plan) else "postinstall.sh"
        found.append(
            OutFile(
                f"conda/{name}", "conda", "run", _script(plan, name), executable=name[-1] == "h"
            )
        )
    return found


def able(plan: Plan, purposes: tuple[str, ...]) -> tuple[str, ...]:
    """The purposes that conda can serve: on Windows none that compiles."""
    return tuple(p for p in purposes if p == "run" or not _windows(plan))


def _windows(plan: Plan) -> bool:
    return plan.target.platform.startswith("windows")


def _file(name: str, text: str, purpose: str) -> OutFile:
    return OutFile(f"conda/{name}", "conda", purpose, text)


def _script(plan: Plan, name: str) -> str:
    return engine.render(f"conda/{name}.j2", _context(plan, "run"))


def _environment(plan: Plan, purpose: str) -> str:
    return engine.render("conda/environment.yml.j2", _context(plan, purpose))


def _context(plan: Plan, purpose: str) -> dict[str, object]:
    return {
        "target": plan.target.name,
        "version": plan.target.version,
        "purpose": purpose,
        "subdir": SUBDIR[plan.target.platform],
        "name": f"tf-{plan.target.name}-{purpose}",
        "kernel": re.sub(r"[^A-Za-z0-9._-]", "-", f"tf-{plan.target.name}"),
        "channels": CHANNELS,
        "mirror": mirror(plan),
        "windows": _windows(plan),
        "nvcc": purpose == "build"
        and any(p.startswith("cudatoolkit=") for p in packages(plan, purpose)),
        "packages": packages(plan, purpose),
        "tools": bool(plan.build_requirements),
        "requirements": "requirements.build.txt" if purpose == "build" else "requirements.txt",
        "pip_mirror": plan.mirrors.get("pip"),
        "cuda": plan.target.cuda,
    }


def mirror(plan: Plan) -> str:
    """The place of a mirror of conda-forge, without the channel's name; empty: there is none.

    The environment names the channel by its own name; conda knows no list of places for one, so a
    setting beside the file puts the mirror in its place, and without the setting it is itself.
    """
    serves = plan.mirrors.channels.get("conda", ["conda-forge"])
    return plan.mirrors.get("conda") if "conda-forge" in serves else ""


def packages(plan: Plan, purpose: str) -> list[str]:
    """The conda part: Python, compilers and CUDA. The Python packages come by pip, by hash."""
    found = [f"python={plan.value('python', 'conda')}", "pip"]
    if plan.target.cuda and "[and-cuda]" not in plan.value("distribution"):
        found += _cuda(plan)
    if purpose == "run":
        return found
    return [*found, *_build_tools(plan)]


def _cuda(plan: Plan) -> list[str]:
    table = plan.lock.formats.get("conda", {})
    if "cuda" not in table or "cudnn" not in table:
        raise ConflictError(
            f"conda-forge is not known to have CUDA {plan.value('cuda')} with cuDNN "
            f"{plan.value('cudnn')} for {SUBDIR[plan.target.platform]}",
            "no build of it stands in the facts",
            "choose another --cuda, or --format docker",
        )
    return [f"cudatoolkit={table['cuda'].value}", f"cudnn={table['cudnn'].value}"]


def _build_tools(plan: Plan) -> list[str]:
    found = ["git", "patch", "unzip", "zip"]
    family, _, version = plan.value("compiler").partition(" ")
    if family == "GCC" and plan.target.platform == "linux-x86_64":
        gcc = _known(plan, "gcc_linux-64", compiler_major("gcc", version))
        wanted = gcc.version if gcc else f"{compiler_major('gcc', version)}.*"
        found += [f"gcc_linux-64={wanted}", f"gxx_linux-64={wanted}"]
    bazel = plan.value("bazel")
    if bazel:
        found.append(f"bazel={bazel}" if _known(plan, "bazel", bazel) else "bazelisk")
    return found


def _known(plan: Plan, name: str, wanted: str) -> schema.CondaPackage | None:
    rows = [r for r in conda_builds(plan.target, name) if matches(r.version, wanted)]
    return max(rows, key=lambda r: version_key(r.version), default=None)
