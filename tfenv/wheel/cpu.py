"""Prove a wheel's CPU floor: import TensorFlow on an emulated older processor.

Instructions that a disassembler finds prove nothing, since libraries choose at run time; an
import that ends in SIGILL under qemu's user-mode emulation does.
"""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
from pathlib import Path
from typing import Literal

import msgspec

from tfenv.errors import MissingToolError, UsageError, one_line

TIMEOUT = 600  # seconds; an emulated import takes 20 to 100
_GUARD = re.compile(r"was compiled to use ([\w., ]+?) instructions, but these aren't available")
_MODEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.+,-]{0,60}")


class CpuProof(msgspec.Struct, frozen=True):
    """What happened on an emulated processor.

    Attributes:
        model: as qemu names it: Nehalem has SSE4.2, SandyBridge AVX, Haswell AVX2.
        outcome: `unknown` when the import failed in a way that says nothing of the processor.
    """

    model: str
    outcome: Literal["runs", "needs-newer", "unknown"]
    detail: str


def prove(python: Path, model: str, module: str = "tensorflow") -> CpuProof:
    """Import `module` with `python`, which has the wheel installed, on an emulated `model`.

    Raises:
        MissingToolError: qemu's user-mode emulator is not installed.
        UsageError: the model's name, or the interpreter, is not one.
    """
    emulator = shutil.which("qemu-x86_64") or shutil.which("qemu-x86_64-static")
    if emulator is None:
        raise MissingToolError(
            "the CPU floor cannot be proven here",
            "qemu-x86_64 is not installed",
            "apt-get install qemu-user (or the package of that name elsewhere)",
        )
    if not _MODEL.fullmatch(model) or not module.isidentifier():
        raise UsageError(
            f"'{model[:40]}' is no CPU model", "see `qemu-x86_64 -cpu help`", "Nehalem"
        )
    if not python.is_file():
        raise UsageError(
            f"{python.name} is no interpreter", "there is no such file", "--python EXE"
        )
    command = [emulator, "-cpu", model, str(python), "-I", "-c", f"import {module}"]
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            timeout=TIMEOUT,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return CpuProof(model, "unknown", f"the import took over {TIMEOUT} s")
    return _judge(model, done.returncode, done.stderr)


def _judge(model: str, code: int, said: str) -> CpuProof:
    if code == 0:
        return CpuProof(model, "runs", "the import ended well")
    if guard := _GUARD.search(said):
        return CpuProof(model, "needs-newer", f"TensorFlow says that it needs {guard[1]}")
    if code in (-signal.SIGILL, 128 + signal.SIGILL):
        return CpuProof(model, "needs-newer", "the import ended in an illegal instruction (SIGILL)")
    last = one_line(said.strip().rpartition("\n")[2])[:200]
    return CpuProof(model, "unknown", f"exit code {code}: {last}")
