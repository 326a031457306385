"""Lock -> Dockerfile: base, toolchain, source, build, wheel, runtime."""

from __future__ import annotations

import datetime
import functools
import re
from typing import Any

from tfenv.errors import ConflictError
from tfenv.facts import schema
from tfenv.lock.model import Artifact
from tfenv.render import engine, recipe
from tfenv.render.plan import OutFile, Plan
from tfenv.render.sources import bazel, download, pip_requirement
from tfenv.target import within
from tfenv.toolchain.base import compiler_major, os_row


def files(plan: Plan, purposes: tuple[str, ...]) -> list[OutFile]:
    """The files of the format docker.

    Raises:
        ConflictError: no image can hold the target.
    """
    if not plan.target.linux:
        raise ConflictError(
            f"{plan.target.name} has no Docker image",
            "its platform is not Linux",
            "choose --format conda or script",
        )
    found = list(_shared(plan))
    if "build" in purposes:
        found += _build(plan)
    if "run" in purposes:
        found += _run(plan)
    return found


# Three formats take these files; each plan's are rendered once.
@functools.lru_cache(maxsize=4)
def _shared(plan: Plan) -> tuple[OutFile, ...]:
    context = _context(plan)
    found = [
        _file("fetch.sh", engine.render("docker/fetch.sh.j2", context), executable=True),
        _file(".dockerignore", engine.render("docker/dockerignore.j2", context)),
        _file("requirements.txt", plan.requirements),
        _file("requirements.pip.txt", pip_requirement(plan.value("python"))),
    ]
    if plan.build_requirements:
        found.append(_file("requirements.tools.txt", plan.build_requirements))
    if plan.suite_requirements:
        found.append(_file("requirements.suite.txt", plan.suite_requirements))
        verify = engine.render("docker/verify.sh.j2", context)
        found.append(_file("verify.sh", verify, executable=True))
    return tuple(found)


@functools.lru_cache(maxsize=4)
def _build(plan: Plan) -> tuple[OutFile, ...]:
    dockerfile = engine.render("docker/Dockerfile.j2", _context(plan))
    found = [
        _file("Dockerfile", dockerfile, "build"),
        _file("requirements.build.txt", plan.build_environment(), "build"),
        _file("build.sh", recipe.script(plan), "build", executable=True),
    ]
    if plan.target.product == "wheel":
        found.append(_file("expect.build.json", plan.expectation(released=False), "build"))
    return tuple(found)


@functools.lru_cache(maxsize=4)
def _run(plan: Plan) -> tuple[OutFile, ...]:
    run = engine.render("docker/Dockerfile.run.j2", _context(plan))
    expect = _file("expect.json", plan.expectation(released=True), "run")
    return (_file("Dockerfile.run", run, "run"), expect)


def apptainer(plan: Plan, purposes: tuple[str, ...]) -> list[OutFile]:
    """The definition of an image to run, and what it copies in, in the folder of the format docker.

    Raises:
        ConflictError: no image can hold the target.
    """
    if "run" not in purposes:
        return []
    shared = [file for file in files(plan, ("run",)) if "Dockerfile" not in file.path]
    text = engine.render("docker/apptainer.def.j2", _context(plan))
    return [OutFile("docker/apptainer.def", "apptainer", "run", text), *shared]


def devcontainer(plan: Plan, purposes: tuple[str, ...]) -> list[OutFile]:
    """An editor's container on the toolchain stage, in the folder of the format docker.

    Raises:
        ConflictError: no image can hold the target.
    """
    if "build" not in purposes:
        return []
    text = engine.render("docker/devcontainer.json.j2", _context(plan))
    found = OutFile("docker/devcontainer.json", "devcontainer", "build", text)
    return [found, *files(plan, ("build",))]


def _file(name: str, text: str, purpose: str = "", *, executable: bool = False) -> OutFile:
    return OutFile(f"docker/{name}", "docker", purpose, text, executable)


@functools.lru_cache(maxsize=4)
def _context(plan: Plan) -> dict[str, Any]:
    image = plan.image()
    if image is None:
        raise ConflictError(
            f"the lock of {plan.target.name} has no base image",
            "Docker needs one",
            "write the lock again with `tfenv lock`",
        )
    base = plan.value("base")
    system = os_row(base)
    nvidia = image.name.startswith("nvidia/")
    return {
        "target": plan.target.name,
        "version": plan.target.version,
        "base": base,
        "archive": _archive(plan),
        "system": system,
        "image": _image_reference(image),
        # Apptainer refuses a reference that has both a tag and a digest.
        "image_by_digest": re.sub(r":[^/@]+@", "@", _image_reference(image)),
        "nvidia": nvidia,
        "packages": packages(plan, system),
        "runtime_packages": runtime_packages(plan, system),
        "machine": "aarch64-linux" if plan.target.platform == "linux-aarch64" else "x86_64-linux",
        "python": plan.value("python"),
        "python_source": download(plan, "cpython"),
        "compiler": _compiler(plan),
        "bazel": bazel(plan),
        "cuda": _cuda(plan) if plan.target.cuda and not nvidia else None,
        "has_cuda": plan.target.cuda,
        "clang_cuda": recipe.variables(plan)["TF_CUDA_CLANG"] == "1",
        "cuda_minor": plan.cuda_minor if plan.target.cuda else "",
        "source": download(plan, "tensorflow"),
        "tools": bool(plan.build_requirements),
        "suite": bool(plan.suite_requirements),
        "apt_mirror": _apt_mirror(plan),
        "pip_mirror": plan.mirrors.get("pip"),
        "epoch": epoch(plan.lock.as_of),
        "product": plan.target.product,
        "pip_cuda": "[and-cuda]" in plan.value("distribution"),
    }


def epoch(as_of: str) -> int:
    """Midnight UTC of the lock's date, in seconds: what SOURCE_DATE_EPOCH stands for."""
    date = datetime.datetime.fromisoformat(f"{as_of}T00:00:00+00:00")
    return int(date.timestamp())


def _image_reference(image: Artifact) -> str:
    return f"{image.name}@{image.digest}" if image.digest else image.name


def _archive(plan: Plan) -> str:
    """The folder of the distribution's archive: Ubuntu keeps other machines than x86 apart."""
    distribution = plan.value("base").partition(":")[0]
    arm = plan.target.platform == "linux-aarch64"
    return "ubuntu-ports" if distribution == "ubuntu" and arm else distribution


def _apt_mirror(plan: Plan) -> str:
    """The mirror for apt, over http: the first `apt-get update` has no CA certificates yet, and
    apt checks the archive's signatures itself."""
    archive = _archive(plan)
    kind = archive if archive == "ubuntu-ports" else f"apt-{archive}"
    return plan.mirrors.get(kind).replace("https://", "http://", 1)


def packages(plan: Plan, system: schema.BaseOs) -> list[str]:
    """The distribution's packages for the toolchain."""
    found = ["build-essential", "ca-certificates", "curl", "git", "patch", "unzip", "zip"]
    family, _, version = plan.value("compiler").partition(" ")
    if family == "Clang":
        found += [f"clang-{compiler_major('clang', version)}", f"lld-{version}"]
    elif compiler_major("gcc", version) != compiler_major("gcc", system.gcc):
        found += [f"gcc-{version}", f"g++-{version}"]
    if plan.has("cpython"):
        found += _python_libraries(system)
    else:
        found += ["python3", "python3-dev", "python3-venv"]
    if plan.target.cuda:
        found.append("libxml2")  # NVIDIA's runfile loads it
    return sorted(found)


def runtime_packages(plan: Plan, system: schema.BaseOs) -> list[str]:
    """What the finished image needs beside what is copied into it."""
    python = _python_libraries(system) if plan.has("cpython") else ["python3"]
    return sorted(["ca-certificates", *python])


def _python_libraries(system: schema.BaseOs) -> list[str]:
    """What python.org's Python is built and run with. The -dev packages stand for the libraries,
    whose own names change with every release of the distribution."""
    ncurses = "libncurses5-dev" if system.codename in ("xenial", "bionic") else "libncurses-dev"
    found = ["libbz2-dev", "libffi-dev", "liblzma-dev", ncurses, "libreadline-dev"]
    return [*found, "libsqlite3-dev", "libssl-dev", "uuid-dev", "zlib1g-dev"]


def _compiler(plan: Plan) -> dict[str, str]:
    family, _, version = plan.value("compiler").partition(" ")
    if family == "Clang":
        return {"cc": f"clang-{version}", "cxx": f"clang++-{version}"}
    system = os_row(plan.value("base"))
    if compiler_major("gcc", version) == compiler_major("gcc", system.gcc):
        return {"cc": "gcc", "cxx": "g++"}
    return {"cc": f"gcc-{version}", "cxx": f"g++-{version}"}


def _cuda(plan: Plan) -> dict[str, Any] | None:
    if within(plan.target.version, ">=2.18"):
        return None  # hermetic CUDA: Bazel fetches what it compiles with
    kit, cudnn = download(plan, "cuda"), download(plan, "cudnn")
    if kit is None or cudnn is None:
        raise ConflictError(
            f"CUDA {plan.value('cuda')} with cuDNN {plan.value('cudnn')} cannot be downloaded",
            "one of the two has no known address",
            "choose --base nvidia, or another --cuda and --cudnn",
        )
    return {"minor": plan.cuda_minor, "kit": kit, "cudnn": cudnn}
