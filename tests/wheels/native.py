"""Compile what broken subjects bring: op libraries, and a pretended GPU driver."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from tfenv.target import within

# The standard that each release's headers ask for (observed: 1.15.5, 2.6.5, 2.15.1, 2.20.0).
_STANDARD = (("<2.3", "c++11"), (">=2.3,<2.10", "c++14"), (">=2.10", "c++17"))
_ASK = (
    "import json, tensorflow as tf; "
    "print(json.dumps([tf.sysconfig.get_compile_flags(), tf.sysconfig.get_link_flags()]))"
)


def op_library(python: Path, version: str, source: Path, output: Path) -> None:
    """Compile `source` into an op library for the TensorFlow of `python`."""
    done = subprocess.run(
        [str(python), "-I", "-c", _ASK], check=True, capture_output=True, text=True
    )
    compile_flags, link_flags = json.loads(done.stdout.strip().splitlines()[-1])
    standard = next(word for specifier, word in _STANDARD if within(version, specifier))
    command = ["g++", f"-std={standard}", "-shared", "-fPIC", "-O1", "-w", str(source)]
    # The release's own flags name a standard too where it matters; the last one wins.
    command += [flag for flag in compile_flags if not flag.startswith("--std")]
    subprocess.run([*command, "-o", str(output), *link_flags], check=True)


def driver(source: Path, output: Path) -> None:
    """Compile `source` into a library under the name of NVIDIA's driver."""
    command = ["gcc", "-shared", "-fPIC", "-w", "-Wl,-soname,libcuda.so.1", str(source)]
    subprocess.run([*command, "-o", str(output)], check=True)
