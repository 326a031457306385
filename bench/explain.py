"""Measure `tfenv explain` beside ripgrep with the same patterns, on the same log.

    python bench/explain.py [--mib 1024] [--rg PATH]

Prints wall and CPU seconds and peak memory of both, and the ratio. The log is made here: lines
of a Bazel build, with one failure in the middle.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tfenv.diagnose.signatures import library
from tfenv.diagnose.template import Template, compile_template

KINDS = (
    "INFO: From Compiling tensorflow/core/kernels/{f}_op.cc:",
    "./tensorflow/core/lib/gtl/inlined_vector.h:{n}:12: warning: variable 'unused' set but not used [-Wunused-but-set-variable]",
    "[{n} / 24,301] Compiling tensorflow/core/kernels/{f}_{n}.cc; {m}s local ... (16 actions, 15 running)",
    "external/snappy/snappy-internal.h:{n}: warning: suggest parentheses around '&&' within '||' [-Wparentheses]",
    "In file included from ./tensorflow/core/framework/op_kernel.h:{m},",
    "                 from tensorflow/core/kernels/{f}.cc:{n}:",
)
FAILURE = "nvcc fatal   : Unsupported gpu architecture 'compute_86'\n"


def write_log(path: Path, mib: int) -> None:
    """A build log of about `mib` MiB."""
    source = random.Random(1)
    names = ("conv", "pool", "matmul", "error_util", "cast", "fill", "gather")
    block = "".join(
        source.choice(KINDS).format(
            f=source.choice(names), n=source.randint(1, 9999), m=source.randint(1, 99)
        )
        + "\n"
        for _ in range(10_000)
    )
    count = max(1, mib * (1 << 20) // len(block))
    with path.open("w", encoding="utf-8") as stream:
        for number in range(count):
            stream.write(block)
            if number == count // 2:
                stream.write(FAILURE)


def regex_of(template: Template) -> str:
    """The template as one regular expression for ripgrep."""
    text = ".{0,300}?".join(segment.pattern for segment in template.segments)
    text = text.replace(r"\A", "^").replace(r"\Z", "$").replace(r"\ ", " ")
    text = re.sub(r"\(\?P<\w+>", "(?:", text)
    text = re.sub(r"\{0,\d+\}", "*", text)  # bounded repeats would exceed ripgrep's size limit
    text = re.sub(r"\{1,\d+\}", "+", text)
    return re.sub(r"\\([\"'`<>=,:;#%@!&~/-])", r"\1", text)


def patterns() -> list[str]:
    """Every pattern that the scanner looks for."""
    known = library()
    texts = [text for owner in known.signature for text in owner.match]
    texts += [text for owner in known.clue for text in owner.match]
    texts += [text for owner in known.outcome for text in owner.match]
    texts += [text for owner in known.remark for text in owner.match]
    texts += [text for owner in known.trouble for text in owner.match]
    return sorted({regex_of(compile_template(text)) for text in texts})


def measure(command: list[str]) -> tuple[float, float, float]:
    """Wall seconds, CPU seconds, peak memory in MiB of one command."""
    started = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, _, usage = os.wait4(process.pid, 0)
    return time.perf_counter() - started, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main() -> None:
    """Make the log, run both, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mib", type=int, default=1024)
    parser.add_argument(
        "--rg", default=shutil.which("rg") or str(Path(sys.executable).with_name("rg"))
    )
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        log, file = Path(folder) / "build.log", Path(folder) / "patterns"
        write_log(log, options.mib)
        file.write_text("\n".join(patterns()) + "\n", encoding="utf-8")
        ours = [sys.executable, "-m", "tfenv", "explain", "--json", str(log)]
        runs = [("tfenv explain", measure(ours))]
        if Path(options.rg).exists():
            peer = [
                options.rg,
                "-a",
                "-n",
                "--no-config",
                "--dfa-size-limit=1G",
                "--regex-size-limit=1G",
                "-f",
                str(file),
                str(log),
            ]
            runs.append(("rg -f, same patterns", measure(peer)))
        for name, (wall, cpu, memory) in runs:
            print(
                f"{name:22} {options.mib} MiB: {wall:6.2f} s wall, {cpu:6.2f} s CPU, {memory:5.0f} MiB"
            )
        if len(runs) == 2:
            print(f"ratio of CPU time: {runs[0][1][1] / runs[1][1][1]:.2f}")


if __name__ == "__main__":
    main()
