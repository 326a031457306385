"""The build stage: preflight, fetch, the recipe in an engine, and what came out."""

from __future__ import annotations

import contextlib
import datetime
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import filelock
import msgspec

from tfenv import files
from tfenv.build import bazel as bazels
from tfenv.build import engines, failure, host, inspection, preflight, record
from tfenv.build import source as sources
from tfenv.build.commands import (
    Command,
    Options,
    Places,
    commands,
    dry_run,
    environment_digest,
)
from tfenv.build.probe import this_machine
from tfenv.build.run import Journal, Update, run, stop_leftover
from tfenv.errors import BuildError, MissingExtraError
from tfenv.fetch import folder as portable
from tfenv.fetch import stage
from tfenv.fetch.cache import Cache
from tfenv.fetch.externals import downloader
from tfenv.fetch.externals.record import External
from tfenv.fetch.item import from_artifacts
from tfenv.fetch.mirrors import BY_PATH, place_of
from tfenv.lock.model import Lock
from tfenv.render import plan as plans
from tfenv.render import recipe
from tfenv.render.mirrors import Mirrors
from tfenv.target import Target

# Which artifacts of a lock the host engine takes itself; a container's image brings the others.
_SOURCE_KINDS = frozenset({"source", "patch", "bazel-external"})


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked."""

    target: Target
    lock: Lock
    engine: engines.EngineName = "docker"
    tree: Path | None = None  # --source
    downloads: stage.Source = msgspec.field(default_factory=stage.Source)
    options: Options = msgspec.field(default_factory=Options)
    python: str = ""  # the interpreter that the host engine starts from
    fresh: bool = False


class Hooks(msgspec.Struct, frozen=True, kw_only=True):
    """Told what happens."""

    say: Callable[[str], None] = lambda _: None
    show: Callable[[Update], None] = lambda _: None


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """What came of it."""

    record: record.Record
    folder: Path
    unchanged: bool
    findings: list[preflight.Finding] = []
    run: Path | None = None


class _Folders:
    """Where one target's build lives below the current folder."""

    def __init__(self, request: Request) -> None:
        state = Path.cwd() / ".tfenv"
        name = request.target.name
        self.work = state / "work" / f"{name}-{request.engine}"
        self.dist = state / "dist" / name
        now = datetime.datetime.now(datetime.timezone.utc)
        self.run = state / "runs" / name / f"{now:%Y%m%dT%H%M%S}-{os.getpid()}"

    def places(self, source: Path, cache: Cache) -> Places:
        return Places(
            script=self.work / "build.sh",
            source=source,
            work=self.work,
            out=self.work / "out",
            cache=cache.root,
            events=self.run / "bazel-events.json",
            environment=self.work / "environment",
        )


def build(request: Request, hooks: Hooks, cache: Cache | None = None) -> Result:
    """Build a target, or say that nothing changed since it was built.

    Raises:
        MissingToolError: the engine is not there.
        DownloadError: something that the build needs could not be had.
        BuildError: preflight found an obstacle, or a step failed.
        StoppedError: interrupted.
    """
    engines.require(request.engine, request.target)
    cache = cache or Cache()
    folders = _Folders(request)
    plan = plans.make(request.lock, Mirrors())
    with _alone(folders.work):
        if request.fresh:
            _start_over(folders)
        source = _source(request, cache)
        script = recipe.script(plan)
        source = _with_environment(source, request, plan)
        inputs = record.inputs(script, source.digest, request.engine, plan.build_environment())
        known = record.read(folders.dist)
        if known is not None and known.inputs == inputs:
            return Result(record=known, folder=folders.dist, unchanged=True)
        return _Build(request, hooks, cache, folders, plan, source, script, inputs).run()


@contextlib.contextmanager
def _alone(work: Path) -> Iterator[None]:
    """One build per work folder; what a killed one left running is ended."""
    work.mkdir(parents=True, exist_ok=True)
    lock = filelock.FileLock(work / "lock")
    try:
        lock.acquire(timeout=0)
    except filelock.Timeout:
        raise BuildError(
            f"another tfenv is building in {work}",
            "two builds in one folder would spoil each other",
            "wait for it, or start this one in another folder",
        ) from None
    try:
        yield
    finally:
        lock.release()


def _start_over(folders: _Folders) -> None:
    for path in folders.work.iterdir():
        if path.name == "lock":
            continue
        if path.is_dir() and not path.is_symlink():
            _remove_tree(path)
        else:
            path.unlink()
    shutil.rmtree(folders.dist, ignore_errors=True)


def _remove_tree(path: Path) -> None:
    """Remove a tree; Bazel writes folders without write permission."""
    for folder, _, _ in os.walk(path):
        with contextlib.suppress(OSError):
            os.chmod(folder, 0o755)  # noqa: PTH101, S103 - a plain path, about to be removed
    shutil.rmtree(path)


def _source(request: Request, cache: Cache) -> sources.Source:
    if request.tree is not None:
        return sources.from_folder(request.tree, request.target)
    return sources.from_cache(request.lock, cache)


def _with_environment(source: sources.Source, request: Request, plan: plans.Plan) -> sources.Source:
    """The source with a digest that also says what it is compiled with: when either changes, the
    steps run again."""
    environment = environment_digest(request.engine, plan, request.options)
    return msgspec.structs.replace(source, digest=f"{source.digest}+{environment[:16]}")


class _Build:
    """One build that has work to do."""

    def __init__(
        self,
        request: Request,
        hooks: Hooks,
        cache: Cache,
        folders: _Folders,
        plan: plans.Plan,
        source: sources.Source,
        script: str,
        inputs: str,
    ) -> None:
        self.request = request
        self.hooks = hooks
        self.cache = cache
        self.folders = folders
        self.plan = plan
        self.source = source
        self.script = script
        self.inputs = inputs
        self.leader = folders.work / "running.json"
        self.bazel = ""
        self.python = ""
        self.archives: dict[str, str] = {}  # repository name by address
        self.externals: list[External] = []

    def run(self) -> Result:
        started = time.monotonic()
        if stop_leftover(self.leader):
            self.hooks.say("ended what an earlier, killed build had left running")
        self.folders.run.mkdir(parents=True)
        journal = Journal(self.folders.run / "events.jsonl")
        journal.add("start", target=self.request.target.name, engine=self.request.engine)
        places = self._places()
        files.write_text(places.script, self.script, executable=True)
        shutil.copyfile(places.script, self.folders.run / "build.sh")
        tools = self._tools()
        findings = self._preflight()
        self._fetch()
        variables = self._variables(tools)
        for call in self._calls(places):
            self._call(call, variables, places, journal)
        journal.add("end", state="built")
        return self._finish(time.monotonic() - started, findings)

    def _places(self) -> Places:
        tree = self.source.path
        in_container = self.request.engine == "docker" and self.source.kind == "tree"
        if in_container and sources.leads_outside(tree):
            tree = sources.copy_whole(tree, self.folders.work / "given")
        places = self.folders.places(tree, self.cache)
        mirror = place_of(BY_PATH, self.request.options.mirror)
        if not mirror:
            return places
        path = self.folders.work / "downloader.cfg"
        files.write_text(path, downloader.config(mirror))
        return msgspec.structs.replace(places, downloader=path)

    def _tools(self) -> Path:
        """A folder with the Bazel of a build that no image or flake brings one for. A conda
        environment may hold Bazelisk only, which asks the network for Bazel unless it has one."""
        folder = self.folders.work / "tools"
        if self.request.engine in {"host", "conda"}:
            found = bazels.find(
                self.request.target, self.request.lock, self.cache, self.request.downloads
            )
            self.bazel = found.version
            bazels.install(found, folder)
        return folder

    def _preflight(self) -> list[preflight.Finding]:
        on_host = self.request.engine == "host"
        probe = this_machine(self.folders.work, bazel=self.bazel or None)
        remote = bool(self.request.options.remote_executor)
        findings = preflight.check(
            self.request.target,
            self.request.lock,
            probe,
            host=on_host,
            own_cuda=self.request.engine in {"host", "conda"},
            remote=remote,
        )
        for finding in findings:
            self.hooks.say(f"{finding.severity}: {finding.detail}; {finding.otherwise}")
        preflight.require(findings)
        jobs = preflight.jobs(self.request.target, probe.memory_mb, probe.cores, remote=remote)
        if not self.request.options.jobs:
            chosen = msgspec.structs.replace(self.request.options, jobs=jobs)
            self.request = msgspec.structs.replace(self.request, options=chosen)
        return findings

    def _fetch(self) -> None:
        wanted = [a for a in self.request.lock.artifact if a.kind in _SOURCE_KINDS]
        if self.source.kind == "tree":
            wanted = [artifact for artifact in wanted if artifact.kind != "source"]
        else:
            sources.archive(self.request.lock)
        stage.fetch_items(from_artifacts(wanted)[0], self.request.downloads, self.cache)
        try:
            self._fetch_externals()
        except MissingExtraError as error:
            self.hooks.say(f"note: {error.why} ({error.fix}); Bazel downloads for itself")

    def _fetch_externals(self) -> None:
        """Have in the cache what Bazel would download. It asks for a part of it only, so what
        cannot be had is said and no error yet."""
        lock, downloads = self.request.lock, self.request.downloads
        folder = self.source.path if self.source.kind == "tree" else None
        tree = stage.source_tree(lock, self.cache, folder)
        if tree is None:
            return
        found = stage.read_externals(lock, tree, downloads, self.cache, folder)
        items = stage.external_items(lock, found)
        outcomes = stage.fetch_items(items, downloads, self.cache, tolerant=True)
        missing = [outcome.item.name for outcome in outcomes if outcome.status == "failed"]
        if missing:
            self.hooks.say(
                f"warning: {len(missing)} of {len(outcomes)} external archives are missing, the "
                f"build fails if Bazel asks for one of them: {', '.join(missing[:20])}"
            )
        self.archives = {url: one.name for one in found.archives for url in one.urls}
        self.externals = list(found.archives)

    def _variables(self, tools: Path) -> dict[str, str]:
        if self.request.engine == "docker":
            return dict(os.environ)
        outcomes = host.fetch_python(self.plan, self.request.downloads, self.cache)
        if self.request.engine != "host":  # their pip takes the files that are here already
            links = self.folders.work / "python-files"
            host.link_files(outcomes, links)
            own = host.kept() | {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(links)}
            conda = self.request.engine == "conda"
            return own | ({"USE_BAZEL_VERSION": str(tools / "bazel")} if conda else {})
        python = host.make_python(self.plan, outcomes, self.cache, self.request.python)
        self.python = str(python)
        return host.variables(python, tools)

    def _calls(self, places: Places) -> list[Command]:
        return commands(
            self.request.engine, self.plan, places, self.request.options, self.source.digest
        )

    def _call(
        self, call: Command, variables: dict[str, str], places: Places, journal: Journal
    ) -> None:
        if _is_there(call):
            return
        log = self.folders.run / "log.txt"
        ended = run(call, variables, log, places.events, journal, self.leader, self.hooks.show)
        if ended.code:
            journal.add("end", state="failed", step=ended.step, code=ended.code)
            advice = f"read {log}, or run `tfenv explain {log}`"
            raise failure.explain(ended, log, self.archives, self.request.target, advice)
        if ended.bazel.processes is not None:
            self.hooks.say(
                f"{ended.bazel.processes} actions, {ended.bazel.cache_hits or 0} of them from a cache"
            )

    def _finish(self, seconds: float, findings: list[preflight.Finding]) -> Result:
        made = record.products(self.folders.work / "out")
        if not made:
            raise BuildError(
                "the build ended well and made nothing",
                f"{self.folders.work / 'out'} is empty",
                f"read {self.folders.run / 'log.txt'}",
            )
        fit = self.folders.work / "fit"
        looked = inspection.look(self.folders.work / "out", made, self.request.target, fit)
        # What went in, Bazel's archives included: `tfenv attest` reads it beside the wheel.
        portable.write_lock(fit, self.request.lock, self.externals)
        entry = record.Record(
            target=self.request.target.name,
            inputs=self.inputs,
            engine=self.request.engine,
            source=self.source.digest,
            products=record.products(fit),
            bazel=self.bazel,
            python=self.python,
            run=str(self.folders.run),
            seconds=round(seconds, 1),
            runs_on=looked.runs_on,
            tag=looked.tag,
        )
        record.publish(fit, self.folders.dist, entry)
        shutil.rmtree(fit)
        return Result(
            record=entry,
            folder=self.folders.dist,
            unchanged=False,
            findings=findings,
            run=self.folders.run,
        )


def _is_there(call: Command) -> bool:
    """Whether a call has nothing to do: its image or environment exists."""
    if not call.unless:
        return False
    asked = subprocess.run(
        call.unless,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=False,
    )
    return asked.returncode == 0


def rehearse(request: Request, cache: Cache | None = None) -> str:
    """What `build` would run, as a script; nothing is asked of the world and nothing written.

    Raises:
        ConflictError: the engine's environment cannot be made for this target.
    """
    cache = cache or Cache()
    folders = _Folders(request)
    plan = plans.make(request.lock, Mirrors())
    if request.tree is not None:
        source = sources.from_folder(request.tree, request.target)
    else:
        archive = next(a for a in request.lock.artifact if a.kind == "source")
        path = cache.path(archive.sha256) if archive.sha256 else Path("SOURCE")
        source = sources.Source("archive", path, f"sha256:{archive.sha256}")
    source = _with_environment(source, request, plan)
    places = folders.places(source.path, cache)
    calls = commands(request.engine, plan, places, request.options, source.digest)
    fetch = ["tfenv", "fetch", request.target.name, *_fetch_options(request)]
    title = f"What `tfenv build {request.target.name} --engine {request.engine}` runs."
    return dry_run(recipe.script(plan), places, calls, fetch, title)


def _fetch_options(request: Request) -> list[str]:
    """The options of `tfenv fetch` that make it fetch for this build."""
    source, tree = request.downloads, request.tree
    words = [f"--{key}={value}" for key, value in request.options.choices.items()]
    words += [f"--mirror={source.mirror}"] if source.mirror else []
    words += [f"--index={source.index}"] if source.index else []
    words += [f"--from={source.folder}"] if source.folder else []
    words += [f"--source={tree}"] if tree else []
    return [*words, "--offline"] if source.offline else words
