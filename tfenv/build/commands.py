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
from tfenv.render import mirrors, render
from tfenv.render.conda import mirror as conda_mirror
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
    index: str = ""  # the Python package index that an image is made from
    base_image: str = ""  # the base image by another name, such as a company's registry's
    choices: dict[str, str] = {}  # what narrowed the toolchain, by the options' names


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
    step: str = ""  # what the call is for, where build.sh does not say
    unless: list[str] = []  # a call that succeeds where this one is not needed
    stop: list[str] = []  # a call that ends the work, where the program only watches it

    def text(self) -> str:
        """The call as a shell would take it."""
        assignments = [f"{name}={shlex.quote(value)}" for name, value in self.variables.items()]
        call = " ".join([*assignments, *map(shlex.quote, self.words)])
        return f"{shlex.join(self.unless)} > /dev/null 2>&1 || {call}" if self.unless else call


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
    folder = places.environment / plan.target.name / engine
    prepare = _generate(engine, plan, places, options)
    if engine == "docker":
        return [prepare, *_docker(plan, places, options, variables, folder)]
    if engine == "nix":
        # The flake's own app: build.sh in the environment that release binaries expect.
        features = ["--extra-experimental-features", "nix-command flakes"]
        words = ["nix", *features, "run", f"path:{folder}#build", "--", *run[2:]]
        return [prepare, Command(words=words, variables=variables)]
    return [prepare, *_conda(plan, places, options, variables, folder, run)]


def _generate(engine: EngineName, plan: Plan, places: Places, options: Options) -> Command:
    words = [sys.executable, "-m", "tfenv", "generate", plan.target.name]
    words += ["--format", engine, "--purpose", "build", "-o", str(places.environment)]
    for key, value in options.choices.items():
        words += [f"--{key}", value]
    if options.mirror:
        words += ["--mirror", options.mirror]
    why = "the environment: generated files, nothing is downloaded"
    return Command(words=words, why=why, step="generate")


def _docker(
    plan: Plan, places: Places, options: Options, variables: dict[str, str], folder: Path
) -> list[Command]:
    arguments = {"BASE_IMAGE": options.base_image, "PIP_INDEX_URL": options.index}
    given = [f"{name}={value}" for name, value in arguments.items() if value]
    image = f"tfenv/{plan.target.name}-toolchain:{environment_digest('docker', plan, options)[:16]}"
    build = ["docker", "build", "--target", "toolchain", "--tag", image]
    build += [word for one in given for word in ("--build-arg", one)]
    seen = {
        str(places.script): f"{_INSIDE}/build.sh",
        str(places.source): f"{_INSIDE}/source",
        str(places.work): f"{_INSIDE}/work",
        str(places.cache): f"{_INSIDE}/cache",
        str(places.events.parent): f"{_INSIDE}/run",
    }
    if places.downloader:
        seen[str(places.downloader)] = f"{_INSIDE}/downloader.cfg"
    if options.disk_cache:
        seen[options.disk_cache] = f"{_INSIDE}/disk-cache"
    name = container(places.work)
    run = ["docker", "run", "--rm", "--init", "--name", name]
    if options.offline:
        run += ["--network", "none"]
    if hasattr(os, "getuid"):
        run += ["--user", f"{os.getuid()}:{os.getgid()}"]
    run += ["--env", f"HOME={_INSIDE}/work", "--env", "USER=tfenv"]
    for outside, inside in seen.items():
        mode = ":ro" if inside in {f"{_INSIDE}/build.sh", f"{_INSIDE}/source"} else ""
        run += ["--volume", f"{outside}:{inside}{mode}"]
    for key, value in variables.items():
        run += ["--env", f"{key}={_inside(value, seen)}"]
    run += [image, "bash", f"{_INSIDE}/build.sh", f"{_INSIDE}/source"]
    run.append(_inside(str(places.out), seen))
    return [
        Command(
            words=[*build, str(folder)],
            why="the toolchain image: base, compiler, Bazel, CUDA, Python",
            step="image",
            unless=["docker", "image", "inspect", image],
        ),
        Command(
            words=run,
            why="the build, with source, work folder and cache mounted",
            stop=["docker", "rm", "--force", name],
        ),
    ]


def environment_digest(engine: EngineName, plan: Plan, options: Options) -> str:
    """A hash of the environment that an engine builds in, as far as its files determine it.

    Args:
        engine: where the build runs; the host has no files of its own.
        plan: the target.
        options: mirror, index and base image change what comes into an image.
    """
    if engine == "host":
        values = [f"{key}={one.value}" for key, one in plan.lock.toolchain.items()]
        return hashlib.sha256("\0".join(values).encode()).hexdigest()
    placed = msgspec.structs.replace(plan, mirrors=mirrors.parse(options.mirror))
    # The recipe is mounted, not part of an image: it may change without a new one.
    parts = [
        f"{file.path}\0{file.text}"
        for file in render(placed, (engine,), ("build",))
        if not file.path.endswith("/build.sh")
    ]
    total = "\0".join([*sorted(parts), options.index, options.base_image])
    return hashlib.sha256(total.encode()).hexdigest()


def container(work: Path) -> str:
    """The name of the container that works in that folder: at most one at a time."""
    return f"tfenv-{hashlib.sha256(str(work).encode()).hexdigest()[:16]}"


def _inside(value: str, seen: dict[str, str]) -> str:
    for outside, inside in seen.items():
        if value == outside or value.startswith(outside + os.sep):
            return inside + value[len(outside) :].replace(os.sep, "/")
    return value


def _conda(
    plan: Plan,
    places: Places,
    options: Options,
    variables: dict[str, str],
    folder: Path,
    run: list[str],
) -> list[Command]:
    """A prefix counts from its last command on: a killed `env create` leaves half a one."""
    prefix = places.work / "conda"
    digest = environment_digest("conda", plan, options)[:16]
    complete = prefix / "conda-meta" / f"tfenv-{digest}"
    conda = next((name for name in CONDAS if shutil.which(name)), CONDAS[0])
    inside = [conda, "run", "--no-capture-output", "--prefix", str(prefix)]
    create = [conda, "env", "create", "--prefix", str(prefix)]
    create += ["--file", str(folder / "environment.build.yml")]
    mirror = {"CONDARC": str(folder / "mirror.condarc")} if conda_mirror(plan) else {}
    steps = [["rm", "-rf", str(prefix)], create]
    if plan.build_requirements:
        pip = [*inside, "python", "-m", "pip", "install", "--require-hashes"]
        steps.append([*pip, "-r", str(folder / "requirements.tools.txt")])
        build = str(folder / "requirements.build.txt")
        steps.append([*pip, "--no-build-isolation", "-r", build])
    steps.append(["touch", str(complete)])
    return [
        *(
            Command(
                words=words,
                variables=mirror if words == create else {},
                why="the environment" if words == create else "",
                step="environment",
                unless=["ls", str(complete)],
            )
            for words in steps
        ),
        Command(words=[*inside, *run], variables=variables),
    ]


def dry_run(script: str, places: Places, calls: list[Command], fetch: list[str], title: str) -> str:
    """All that a build would do, as a script that does it."""
    folders = (places.work, places.out, places.cache, places.events.parent)
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
