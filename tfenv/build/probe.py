"""What a build would find on this machine. A probe is plain data, so that it can be faked."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import msgspec

_ASK_SECONDS = 60  # a Bazel unpacks itself the first time


class Probe(msgspec.Struct, frozen=True, kw_only=True):
    """A machine. Sizes in MB (10^6 bytes); 0, empty and None mean "not known"."""

    system: str = ""  # linux, darwin, windows
    cores: int = 0
    memory_mb: int = 0
    disk_mb: int = 0  # free, where the build will work
    glibc: str = ""
    compiler: str = ""  # "GCC 12.2.0", "Clang 16.0.6"
    bazel: str | None = None  # its version; "no_version": built from source; None: not there
    python: str = ""
    driver: str = ""  # NVIDIA's
    nvcc: str = ""  # where CUDA's compiler is: below CUDA_TOOLKIT_PATH, on PATH, or the usual place
    cpu_flags: list[str] = []
    open_files: int = 0
    work_path: str = ""
    proxy: str = ""  # what HTTPS_PROXY says
    ca_file: str | None = None  # what SSL_CERT_FILE says, if it is set
    ca_exists: bool = True


def this_machine(work: Path, *, compiler: str = "", bazel: str | None = None) -> Probe:
    """Look at this machine; quick, and never fails.

    Args:
        work: where the build will work.
        compiler: the C++ compiler's program; empty: CXX, else g++ or clang++.
        bazel: the version of the Bazel that was found.
    """
    work.mkdir(parents=True, exist_ok=True)
    certificates = os.environ.get("SSL_CERT_FILE")
    return Probe(
        system=platform.system().lower(),
        cores=os.cpu_count() or 0,
        memory_mb=_memory() // 10**6,
        disk_mb=shutil.disk_usage(work).free // 10**6,
        glibc=platform.libc_ver()[1] if sys.platform.startswith("linux") else "",
        compiler=_compiler(compiler),
        bazel=bazel,
        python=platform.python_version(),
        driver=_read(r"Kernel Module\s+([\d.]+)", "/proc/driver/nvidia/version"),
        nvcc=_nvcc(),
        cpu_flags=_read(r"^flags\s*:\s*(.*)$", "/proc/cpuinfo").split(),
        open_files=_open_files(),
        work_path=str(work.absolute()),
        proxy=os.environ.get("HTTPS_PROXY") or os.environ.get("https_proxy") or "",
        ca_file=certificates,
        ca_exists=certificates is None or Path(certificates).is_file(),
    )


def _nvcc() -> str:
    places = [os.environ.get("CUDA_TOOLKIT_PATH", ""), "/usr/local/cuda"]
    told = (shutil.which("nvcc", path=f"{place}/bin") for place in places if place)
    return next((found for found in (*told, shutil.which("nvcc")) if found), "")


def _memory() -> int:
    """Bytes that this process may use: the machine's, or its container's if that is less."""
    total = int(_read(r"^MemTotal:\s+(\d+) kB", "/proc/meminfo") or 0) * 1024
    if not total and hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    limit = _read(r"^(\d+)$", "/sys/fs/cgroup/memory.max")
    return min(total, int(limit)) if limit else total


def _read(pattern: str, path: str) -> str:
    try:
        found = re.search(pattern, Path(path).read_text("utf-8", "replace"), re.MULTILINE)
    except OSError:
        return ""
    return found[1] if found else ""


def _compiler(program: str) -> str:
    candidates = [program, os.environ.get("CXX", ""), "g++", "clang++", "c++"]
    path = next((found for name in candidates if name and (found := shutil.which(name))), None)
    if path is None:
        return ""
    return compiler_of(version_text(path))


def version_text(program: str | Path) -> str:
    """What a program says to --version, or an empty string.

    It is asked in an empty folder: Bazel's wrappers look around for the version that a tree wants.
    """
    with tempfile.TemporaryDirectory() as empty:
        try:
            return subprocess.run(
                [program, "--version"],
                cwd=empty,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=_ASK_SECONDS,
                check=False,
            ).stdout
        except (OSError, subprocess.TimeoutExpired):
            return ""


def compiler_of(said: str) -> str:
    """The compiler's name out of what its --version says.

    >>> compiler_of("g++ (Debian 12.2.0-14) 12.2.0")
    'GCC 12.2.0'
    """
    if found := re.search(r"clang version (\d+(?:\.\d+)*)", said):
        return f"Clang {found[1]}"
    if found := re.match(r"\S+ \(.*?\) (\d+(?:\.\d+)+)", said):
        return f"GCC {found[1]}"
    return ""


def _open_files() -> int:
    if sys.platform == "win32":
        return 0
    import resource

    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return 0 if soft == resource.RLIM_INFINITY else soft
