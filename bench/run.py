"""tfenv beside its peers: CPU seconds and peak memory, medians of five, in one run: `nox -s bench`.

Each peer is installed into a virtual environment of its own in tfenv's cache. Runs are interleaved,
so that a busy machine slows all alike. Writes bench/results.json; ends with 1 when a limit is passed.
"""

from __future__ import annotations

import functools
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import msgspec

from tfenv import __version__
from tfenv.verify.environment import cache_folder, uv_program
from tfenv.verify.interpreter import python_in

RUNS = 5
RESULTS = Path(__file__).with_name("results.json")
SESSIONS = 100
NOXFILE = "import nox\n" + "".join(
    f"\n@nox.session\ndef task_{n}(session):\n    'Task {n}.'\n" for n in range(SESSIONS)
)
RECIPE = """
Stage0 += baseimage(image='ubuntu:18.04')
Stage0 += gnu()
Stage0 += python()
Stage0 += pip(packages=['numpy'])
"""
PROJECT = '[build-system]\nrequires = ["setuptools"]\nbuild-backend = "setuptools.build_meta"\n'
RENDER_ALL = """
from tfenv import lock, render
from tfenv.render import plan
from tfenv.render.mirrors import Mirrors
from tfenv.target import catalogue
for target in catalogue().values():
    render.render_all(plan.make(lock.for_target(target), Mirrors()), render.PURPOSES)
"""


class Peer(msgspec.Struct, frozen=True):
    """A tool that does a comparable thing."""

    name: str
    package: str
    arguments: tuple[str, ...]
    beside: tuple[str, ...]  # the commands of tfenv that it is compared with
    files: dict[str, str] = {}  # what its working folder holds
    environment: dict[str, str] = {}


PEERS = (
    Peer("nox -l, 100 sessions", "nox", ("-m", "nox", "-l"), ("list",), {"noxfile.py": NOXFILE}),
    Peer(
        "cibuildwheel --print-build-identifiers",
        "cibuildwheel",
        ("-m", "cibuildwheel", "--print-build-identifiers", "--platform", "linux"),
        ("list",),
        {"pyproject.toml": PROJECT},
    ),
    Peer(
        "hpccm, one recipe",
        "hpccm",
        ("-m", "hpccm.cli", "--recipe", "recipe.py"),
        ("show 2.6.5-cuda", "generate 2.6.5-cuda"),
        {"recipe.py": RECIPE},
    ),
    Peer(
        "repo2docker --no-build",
        "jupyter-repo2docker",
        ("-m", "repo2docker", "--no-build", "--debug", "."),
        ("generate 2.6.5-cuda",),
        {"requirements.txt": "numpy\n"},
    ),
)
# Starts a command from a small process: a peak is counted from the size of the one that starts it.
LAUNCH = """
import os, sys
pid = os.posix_spawn(sys.argv[2], sys.argv[2:], os.environ)
_, status, used = os.wait4(pid, 0)
with open(sys.argv[1], "w") as result:
    print(os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime, used.ru_maxrss,
          file=result)
"""
# CPU seconds; `over` counts from `python -c pass`.
LIMITS: dict[str, tuple[float, bool]] = {
    "list": (0.15, True),
    "show 2.6.5-cuda": (0.2, False),
    "all targets, all formats": (3.0, False),
}


class Figure(msgspec.Struct, frozen=True):
    """What one command took."""

    cpu: float  # seconds, user and system, children included
    memory: int  # bytes, the peak of the process


def measure(command: list[str], folder: Path, environment: dict[str, str]) -> Figure:
    """Run a command once.

    Raises:
        RuntimeError: it failed, with the end of what it said.
    """
    with tempfile.TemporaryDirectory() as scratch:
        result = Path(scratch, "result")
        done = subprocess.run(
            [sys.executable, "-I", "-S", "-c", LAUNCH, str(result), *command],
            cwd=folder,
            env={**_plain_environment(), **environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=True,
        )
        status, cpu, peak = result.read_text("utf-8").split()
    if status != "0":
        tail = done.stdout[-500:].decode(errors="replace")
        raise RuntimeError(f"{' '.join(command)} ended with {status}: {tail}")
    return Figure(float(cpu), int(peak) * (1 if sys.platform == "darwin" else 1024))


def _plain_environment() -> dict[str, str]:
    """What people have: Python keeps its bytecode. Here in a folder of the bench's own."""
    found = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    return {**found, "PYTHONPYCACHEPREFIX": str(cache_folder() / "bench" / "bytecode")}


def median(figures: list[Figure]) -> Figure:
    """The median of each number."""
    return Figure(
        round(statistics.median(f.cpu for f in figures), 4),
        int(statistics.median(f.memory for f in figures)),
    )


def install(peer: Peer) -> tuple[str, str]:
    """The peer's Python, and which version it is."""
    home = cache_folder() / "bench" / peer.package
    python = python_in(home)
    if not (home / "complete").exists():
        uv = [uv_program()]
        subprocess.run(
            [*uv, "venv", "--quiet", "--clear", "--python", sys.executable, str(home)], check=True
        )
        install_it = ("pip", "install", "--quiet", "--python", str(python), peer.package)
        subprocess.run([*uv, *install_it], check=True)
        (home / "complete").touch()
    ask = f"from importlib.metadata import version; print(version({peer.package!r}))"
    done = subprocess.run([python, "-c", ask], check=True, capture_output=True, text=True)
    return str(python), done.stdout.strip()


def prepare(root: Path) -> tuple[dict[str, Callable[[], Figure]], dict[str, str]]:
    """Every command by its name, and the peers' versions."""
    root.joinpath("own").mkdir()

    def own(*arguments: str) -> Callable[[], Figure]:
        return lambda: measure([sys.executable, *arguments], root / "own", {})

    found = {
        "python -c pass": own("-c", "pass"),
        "--help": own("-m", "tfenv", "--help"),
        "list": own("-m", "tfenv", "list"),
        "show 2.6.5-cuda": own("-m", "tfenv", "show", "2.6.5-cuda"),
        "generate 2.6.5-cuda": own("-m", "tfenv", "generate", "2.6.5-cuda"),
        "all targets, all formats": own("-c", RENDER_ALL),
    }
    versions = {}
    for peer in PEERS:
        python, versions[peer.name] = install(peer)
        folder = root / peer.package
        folder.mkdir()
        for name, text in peer.files.items():
            (folder / name).write_text(text, encoding="utf-8")
        found[peer.name] = functools.partial(
            measure, [python, *peer.arguments], folder, peer.environment
        )
    return found, versions


def main() -> int:
    """Measure, print, write."""
    with tempfile.TemporaryDirectory(prefix="tfenv-bench-") as name:
        commands, versions = prepare(Path(name))
        figures: dict[str, list[Figure]] = {case: [] for case in commands}
        for command in commands.values():
            command()  # compiles, and fills the system's file cache
        for _ in range(RUNS):
            for case, command in commands.items():
                figures[case].append(command())
    medians = {case: median(found) for case, found in figures.items()}
    ratios = [
        {
            "command": command,
            "peer": peer.name,
            "cpu": round(medians[command].cpu / medians[peer.name].cpu, 3),
            "memory": round(medians[command].memory / medians[peer.name].memory, 3),
        }
        for peer in PEERS
        for command in peer.beside
    ]
    limits = [_limit(case, medians) for case in LIMITS]
    _print(medians, versions, ratios, limits)
    document = {
        "schema": 1,
        "tfenv": __version__,
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} CPUs",
        "runs": RUNS,
        "medians": msgspec.to_builtins(medians),
        "peers": versions,
        "ratios": ratios,
        "limits": limits,
    }
    RESULTS.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    return 0 if all(limit["kept"] for limit in limits) else 1


def _limit(case: str, medians: dict[str, Figure]) -> dict[str, object]:
    limit, over = LIMITS[case]
    cpu = medians[case].cpu - (medians["python -c pass"].cpu if over else 0)
    return {
        "command": case,
        "cpu": round(cpu, 4),
        "limit": limit,
        "over": "python -c pass" if over else "",
        "kept": cpu <= limit,
    }


def _print(
    medians: dict[str, Figure],
    versions: dict[str, str],
    ratios: list[dict[str, object]],
    limits: list[dict[str, object]],
) -> None:
    print(f"medians of {RUNS}: CPU seconds, peak memory")
    for case, figure in medians.items():
        version = f" ({versions[case]})" if case in versions else ""
        print(f"  {figure.cpu:7.3f} s {figure.memory / 1e6:8.1f} MB  {case}{version}")
    print("tfenv / peer")
    for row in ratios:
        print(f"  CPU {row['cpu']}, memory {row['memory']}: {row['command']} / {row['peer']}")
    print("limits")
    for row in limits:
        over = f" over {row['over']}" if row["over"] else ""
        kept = "kept" if row["kept"] else "NOT KEPT"
        print(f"  {row['command']}: {row['cpu']} of {row['limit']} s{over}: {kept}")


if __name__ == "__main__":
    sys.exit(main())
