"""What each engine runs: plain commands, so that `--dry-run` can print what a build would do."""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
import sys
from pathlib import Path

import msgspec

from tfenv.build.engines import CONDAS, EngineName
from tfenv.render.plan import Plan

# Where a container sees the build's folders.
_INSIDE = "/tfenv"


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """What the user sets beside the target."""

    jobs: int = 0  # 0: as many as memory and cores allow
    offline: bool = False
    disk_cache: str = ""
    remote_cache: str = ""
    remote_executor: str = ""
    mirror: str = ""
    bazel_flags: str = ""


class Places(msgspec.Struct, frozen=True, kw_only=True):
    """The folders and files of one build."""

    script: Path  # build.sh
    source: Path  # a tree or an archive
    work: Path
    out: Path
    cache: Path
    events: Path
    environment: Path  # where `tfenv generate` writes
    downloader: Path | None = None


class Command(msgspec.Struct, frozen=True, kw_only=True):
    """One program call."""

    words: list[str]
    variables: dict[str, str] = {}  # beside the ones that the engine has anyway
    why: str = ""

    def text(self) -> str:
        """The call as a shell would take it."""
        assignments = [f"{name}={shlex.quote(value)}" for name, value in self.variables.items()]
        return " ".join([*assignments, *map(shlex.quote, self.words)])


def recipe_variables(places: Places, options: Options, digest: str) -> dict[str, str]:
    """What build.sh reads, with the paths of this machine."""
    found = {
        "TFENV_WORK": str(places.work),
        "TFENV_SOURCE_DIGEST": digest,
        "TFENV_CACHE": str(places.cache),
        "TFENV_EVENTS": str(places.events),
        "TFENV_DOWNLOADER": str(places.downloader or ""),
        "TFENV_JOBS": str(options.jobs or ""),
        "TFENV_OFFLINE": "1" if options.offline else "",
        "TFENV_DISK_CACHE": options.disk_cache,
        "TFENV_REMOTE_CACHE": options.remote_cache,
        "TFENV_REMOTE_EXECUTOR": options.remote_executor,
        "TFENV_BAZEL_FLAGS": options.bazel_flags,
    }
    return {name: value for name, value in found.items() if value}


def commands(
    engine: EngineName, plan: Plan, places: Places, options: Options, digest: str
) -> list[Command]:
    """The calls of one build, in order; the last one is the build itself."""
    variables = recipe_variables(places, options, digest)
    run = ["bash", str(places.script), str(places.source), str(places.out)]
    if engine == "host":
        return [Command(words=run, variables=variables)]
    prepare = _generate(engine, plan, places, options)
    folder = places.environment / plan.target.name / engine
    if engine == "docker":
        return [prepare, *_docker(plan, places, options, variables, folder)]
    if engine == "nix":
        attribute = f"path:{folder}#{plan.target.nix_attribute}"
        words = ["nix", "develop", attribute, "--command", *run]
        return [prepare, Command(words=words, variables=variables)]
    return [prepare, *_conda(places, variables, folder, run)]


def _generate(engine: EngineName, plan: Plan, places: Places, options: Options) -> Command:
    words = [sys.executable, "-m", "tfenv", "generate", plan.target.name]
    words += ["--format", engine, "--purpose", "build", "-o", str(places.environment)]
    for key, value in _choices(plan).items():
        words += [f"--{key}", value]
    if options.mirror:
        words += ["--mirror", options.mirror]
    return Command(words=words, why="the environment: generated files, nothing is downloaded")


def _choices(plan: Plan) -> dict[str, str]:
    """The versions of the plan as choices, so that the environment is for the same toolchain."""
    keys = ("python", "cuda", "cudnn", "march", "bazel")
    return {key: plan.value(key) for key in keys if plan.value(key)}


def _docker(
    plan: Plan, places: Places, options: Options, variables: dict[str, str], folder: Path
) -> list[Command]:
    image = f"tfenv/{plan.target.name}-toolchain"
    name = container(places.work)
    build = ["docker", "build", "--target", "toolchain", "--tag", image, str(folder)]
    seen = {
        str(places.script): f"{_INSIDE}/build.sh",
        str(places.source): f"{_INSIDE}/source",
        str(places.work): f"{_INSIDE}/work",
        str(places.cache): f"{_INSIDE}/cache",
        str(places.events.parent): f"{_INSIDE}/run",
    }
    if places.downloader:
        seen[str(places.downloader)] = f"{_INSIDE}/downloader.cfg"
    run = ["docker", "run", "--rm", "--init", "--name", name]
    if options.offline:
        run += ["--network", "none"]
    if hasattr(os, "getuid"):
        run += ["--user", f"{os.getuid()}:{os.getgid()}"]
    run += ["--env", "HOME=/tfenv/work", "--env", "USER=tfenv"]
    for outside, inside in seen.items():
        mode = ":ro" if inside in {f"{_INSIDE}/build.sh", f"{_INSIDE}/source"} else ""
        run += ["--volume", f"{outside}:{inside}{mode}"]
    for key, value in variables.items():
        run += ["--env", f"{key}={_inside(value, seen)}"]
    run += [image, "bash", f"{_INSIDE}/build.sh", f"{_INSIDE}/source"]
    run.append(_inside(str(places.out), seen))
    return [
        Command(words=build, why="the toolchain image: base, compiler, Bazel, CUDA, Python"),
        Command(words=run, why="the build, with source, work folder and cache mounted"),
    ]


def container(work: Path) -> str:
    """The name of the container that works in that folder: at most one at a time."""
    return f"tfenv-{hashlib.sha256(str(work).encode()).hexdigest()[:16]}"


def _inside(value: str, seen: dict[str, str]) -> str:
    for outside, inside in seen.items():
        if value == outside or value.startswith(outside + os.sep):
            return inside + value[len(outside) :].replace(os.sep, "/")
    return value


def _conda(
    places: Places, variables: dict[str, str], folder: Path, run: list[str]
) -> list[Command]:
    prefix = places.work / "conda"
    conda = next((name for name in CONDAS if shutil.which(name)), CONDAS[0])
    create = [conda, "env", "create", "--prefix", str(prefix)]
    create += ["--file", str(folder / "environment.build.yml")]
    words = [conda, "run", "--no-capture-output", "--prefix", str(prefix), *run]
    build = Command(words=words, variables=variables)
    if (prefix / "conda-meta").is_dir():  # `env create` refuses a prefix that is there
        return [build]
    return [Command(words=create, why="the environment"), build]


def dry_run(script: str, places: Places, calls: list[Command], fetch: list[str], title: str) -> str:
    """All that a build would do, as a script that does it."""
    folders = (places.work, places.out, places.script.parent)
    lines = [
        "#!/usr/bin/env bash",
        f"# {title}",
        "set -euo pipefail",
        "",
        "# Every download, verified, into the cache.",
        " ".join(map(shlex.quote, fetch)),
        "",
        " ".join(["mkdir -p", *(shlex.quote(str(p)) for p in folders)]),
        f"cat > {shlex.quote(str(places.script))} <<'END_OF_BUILD_SH'",
        *script.rstrip("\n").split("\n"),
        "END_OF_BUILD_SH",
    ]
    for call in calls:
        lines += ["", *([f"# {call.why}"] if call.why else []), call.text()]
    return "\n".join(lines) + "\n"
