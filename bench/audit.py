"""`inspect` and `audit` on two released wheels, beside sha256sum and, where they are there, peers.

    python bench/audit.py [-o RESULTS.json] [--peers]

The wheels are tensorflow-cpu 2.6.4 and 2.6.5 for CPython 3.7 (170 MiB each, 641 MiB unpacked),
fetched by hash through the user's index. Each line is the median of three runs, each run a process
of its own: wall seconds, processor seconds of the process and its children, peak memory.
`--peers` adds auditwheel (`auditwheel show`, about 40 to 90 s) and diffoscope (ended after
`--patience` seconds: it takes longer than anybody waits) where they are on PATH.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import platform
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import NamedTuple

from tfenv import __version__
from tfenv.fetch.cache import Cache
from tfenv.fetch.item import Item
from tfenv.fetch.stage import Source, fetch_items

ROUNDS = 3
WHEELS = (
    ("2.6.4", "0174f8d69eb676120d993dfceca643dcb6ffaaada5fb04287d845a7239480ecc"),
    ("2.6.5", "7e8f1eeb9203f947feff8b962b252fef554c2ad2fee38d7091d795db4b23b653"),
)
# What the project promises for each line: wall seconds, processor seconds, MiB; None: no promise.
GOALS: dict[str, tuple[float | None, float | None, float | None]] = {
    "tfenv inspect B": (None, 3.0, None),
    "tfenv audit A B": (6.0, None, 400.0),
    "tfenv audit --quick A B": (0.5, None, None),
}
ENDED = -signal.SIGKILL
_MAIN = "import sys; from tfenv.cli import main; main(sys.argv[1:])"


class Cost(NamedTuple):
    """One process: seconds of wall and processor, MiB of peak memory, exit code."""

    wall: float
    cpu: float
    memory: float
    code: int


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("-o", "--output", type=Path)
    parser.add_argument("--peers", action="store_true")
    parser.add_argument("--patience", type=float, default=300.0, metavar="SECONDS")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        a, b = (fetch(version, digest, Path(name)) for version, digest in WHEELS)
        copy = Path(name) / "copy" / b.name
        copy.parent.mkdir()
        shutil.copyfile(b, copy)
        lines = measure(a, b, copy)
        if options.peers:
            lines |= measure_peers(a, b, options.patience)
    for label, cost in lines.items():
        told = f"{label:32} {cost.wall:7.2f} s wall {cost.cpu:7.2f} s cpu {cost.memory:6.0f} MiB"
        ended = "  ENDED before it was done" if cost.code == ENDED else ""
        print(told + missed(label, cost) + ended)
    if options.output:
        options.output.parent.mkdir(parents=True, exist_ok=True)
        options.output.write_text(json.dumps(document(lines), indent=1) + "\n", "utf-8")
    return 0


def fetch(version: str, digest: str, folder: Path) -> Path:
    file = f"tensorflow_cpu-{version}-cp37-cp37m-manylinux2010_x86_64.whl"
    item = Item(
        name="tensorflow-cpu",
        version=version,
        sha256=digest,
        urls=[],
        kind="python",
        file=file,
        python="3.7",
        platform="linux-x86_64",
    )
    (outcome,) = fetch_items([item], Source(), Cache())
    assert outcome.path is not None
    shutil.copyfile(outcome.path, folder / file)
    return folder / file


def measure(a: Path, b: Path, copy: Path) -> dict[str, Cost]:
    tfenv = [sys.executable, "-c", _MAIN]
    commands = {
        "sha256sum A B": ["sha256sum", str(a), str(b)],
        "tfenv inspect B": [*tfenv, "inspect", str(b)],
        "tfenv audit A B": [*tfenv, "audit", str(a), str(b)],
        "tfenv audit --quick A B": [*tfenv, "audit", "--quick", str(a), str(b)],
        "sha256sum B B'": ["sha256sum", str(b), str(copy)],
        "tfenv audit B B' (identical)": [*tfenv, "audit", str(b), str(copy)],
    }
    return {
        label: median([cost_of(command) for _ in range(ROUNDS)])
        for label, command in commands.items()
        if shutil.which(command[0])
    }


def measure_peers(a: Path, b: Path, patience: float) -> dict[str, Cost]:
    """Each once: they take minutes."""
    commands = {
        "auditwheel show B": ["auditwheel", "show", str(b)],
        "diffoscope A B": ["diffoscope", str(a), str(b)],
    }
    return {
        label: cost_of(command, patience)
        for label, command in commands.items()
        if shutil.which(command[0])
    }


def cost_of(command: list[str], patience: float = 3600.0) -> Cost:
    """Run a command; what still runs after `patience` seconds is ended, with its children."""
    # Where bytecode is not kept, every start would compile the whole program again.
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    started = time.monotonic()
    with subprocess.Popen(
        command, stdout=subprocess.DEVNULL, env=environment, start_new_session=True
    ) as process:
        clock = threading.Timer(patience, os.killpg, (process.pid, signal.SIGKILL))
        clock.start()
        _, status, usage = os.wait4(process.pid, 0)
        clock.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
    wall = time.monotonic() - started
    cpu = usage.ru_utime + usage.ru_stime
    return Cost(wall, cpu, usage.ru_maxrss / 1024, process.returncode)


def median(costs: list[Cost]) -> Cost:
    return Cost(
        statistics.median(c.wall for c in costs),
        statistics.median(c.cpu for c in costs),
        max(c.memory for c in costs),
        costs[0].code,
    )


def missed(label: str, cost: Cost) -> str:
    """Which promises a line does not keep."""
    goals = GOALS.get(label, (None, None, None))
    over = [
        f"{name} over {goal:g}"
        for name, goal, value in zip(("wall", "cpu", "MiB"), goals, cost[:3], strict=True)
        if goal is not None and value > goal
    ]
    return f"  MISSED: {', '.join(over)}" if over else ""


def document(lines: dict[str, Cost]) -> dict[str, object]:
    return {
        "what": "inspect and audit of tensorflow-cpu 2.6.4 (A) and 2.6.5 (B), cp37",
        "tfenv": __version__,
        "python": platform.python_version(),
        "cores": os.cpu_count(),
        "load": os.getloadavg()[0],
        "isal": importlib.util.find_spec("isal") is not None,
        "rounds": ROUNDS,
        "lines": {label: cost._asdict() for label, cost in lines.items()},
    }


if __name__ == "__main__":
    sys.exit(main())
