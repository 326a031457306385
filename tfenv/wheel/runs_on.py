"""From what a wheel is to where it runs: systems, Pythons, CPUs, GPUs, drivers."""

from __future__ import annotations

import msgspec

from tfenv import facts
from tfenv.facts import schema
from tfenv.wheel import tags


class GpuSupport(msgspec.Struct, frozen=True):
    """How one compute capability is served: `native`, or `jit` (compiled at first use)."""

    capability: str
    how: str
    cards: list[str]


class RunsOn(msgspec.Struct, frozen=True):
    """Where a wheel runs, and the sentence that says so."""

    pythons: list[str]
    platforms: list[str]
    machine: str
    glibc: str
    systems: list[str]
    minimum_os: str
    cpu: str
    gpus: list[GpuSupport]
    gpus_not: list[str]
    driver: str
    bring: list[str]
    sentence: str


def dotted(version: str) -> tuple[int, ...]:
    """A version of digits and dots to compare by; anything else counts as nothing."""
    parts = version.split(".")
    return tuple(int(p) for p in parts) if all(p.isdigit() for p in parts) else ()


def conclude(
    *,
    python_tags: list[str],
    platforms: list[str],
    machine: str,
    glibc: str,
    glibcxx: str,
    minimum_os: str,
    isa: str,
    gpu: bool,
    cuda: str,
    cudnn: str,
    sass: list[str],
    ptx: list[str],
    bring: list[str],
) -> RunsOn:
    """Put the parts together; `gpu` says whether there is GPU code at all."""
    promised = [p for tag in platforms if (p := tags.promised_glibc(tag))]
    floor = max([glibc, *promised], key=dotted) if glibc or promised else ""
    systems = _systems(floor)
    gpus, refused = _gpus(sass, ptx) if gpu else ([], [])
    driver = _driver(cuda, platforms) if gpu else ""
    pythons = sorted({_python(tag) for tag in python_tags}, key=dotted)
    parts = [
        f"CPython {', '.join(pythons)}" if pythons else "",
        f"{'/'.join(platforms)}" if platforms else machine,
        f"glibc {floor} or newer" + (f" ({systems[0]} on)" if systems else "") if floor else "",
        f"libstdc++ with GLIBCXX_{glibcxx}" if glibcxx else "",
        f"macOS {minimum_os} or newer" if minimum_os else "",
        f"CPUs with {isa}" if isa not in ("unknown", "") else "an unknown CPU floor",
        _gpu_words(gpu, gpus, driver, cuda, cudnn),
        f"libraries to bring: {', '.join(bring)}" if bring else "",
    ]
    return RunsOn(
        pythons=pythons,
        platforms=platforms,
        machine=machine,
        glibc=floor,
        systems=systems,
        minimum_os=minimum_os,
        cpu=isa,
        gpus=gpus,
        gpus_not=refused,
        driver=driver,
        bring=bring,
        sentence="Runs on " + "; ".join(part for part in parts if part) + ".",
    )


def _python(tag: str) -> str:
    """cp37 is 3.7, cp313 is 3.13; other tags stay as they are."""
    digits = tag.removeprefix("cp").removeprefix("py")
    return f"{digits[0]}.{digits[1:]}" if digits.isdigit() and len(digits) > 1 else tag


def _systems(glibc: str) -> list[str]:
    """Base systems of the facts that have this glibc, oldest first."""
    if not glibc:
        return []
    rows = [row for row in facts.rows(schema.BaseOs) if dotted(row.glibc) >= dotted(glibc)]
    return [row.name for row in sorted(rows, key=lambda row: (dotted(row.glibc), row.name))]


def _gpus(sass: list[str], ptx: list[str]) -> tuple[list[GpuSupport], list[str]]:
    """Which capabilities of known cards are served.

    Machine code for X.Y runs on X.Z with Z >= Y; PTX for X.Y is compiled on anything newer
    (CUDA C++ Programming Guide, "Binary Compatibility" and "PTX Compatibility").
    """
    binary = [_capability(name) for name in sass]
    virtual = [_capability(name) for name in ptx]
    cards: dict[tuple[int, ...], list[str]] = {}
    for row in facts.rows(schema.Gpu):
        cards.setdefault(dotted(row.capability), []).append(row.name)
    served: list[GpuSupport] = []
    refused: list[str] = []
    for has in sorted(cards):
        if any(has[0] == b[0] and has[1] >= b[1] for b in binary):
            how = "native"
        elif any(has >= v for v in virtual):
            how = "jit"
        else:
            refused.append(_join(has))
            continue
        served.append(GpuSupport(_join(has), how, cards[has][:3]))
    return served, refused


def _capability(name: str) -> tuple[int, int]:
    """sm_86 is (8, 6), compute_120 is (12, 0)."""
    digits = int(name.rpartition("_")[2])
    return divmod(digits, 10)


def _join(capability: tuple[int, ...]) -> str:
    return ".".join(str(part) for part in capability)


def _driver(cuda: str, platforms: list[str]) -> str:
    """The oldest NVIDIA driver for a CUDA version; empty where the facts do not say.

    Of a bare major, which some builds give, the oldest minor counts.
    """
    wanted = dotted(cuda)[:2]
    rows = [row for row in facts.rows(schema.CudaArch) if dotted(row.cuda)[: len(wanted)] == wanted]
    if not wanted or not rows:
        return ""
    row = min(rows, key=lambda row: dotted(row.cuda))
    if any(tag.startswith("win") for tag in platforms):
        return row.driver_windows[0].partition(":")[2] if row.driver_windows else ""
    if row.driver_linux_min:
        return row.driver_linux_min
    return row.driver_linux[0].partition(":")[2] if row.driver_linux else ""


def _gpu_words(gpu: bool, gpus: list[GpuSupport], driver: str, cuda: str, cudnn: str) -> str:
    if not gpu:
        return "no GPU: it holds no GPU code"
    native = [g.capability for g in gpus if g.how == "native"]
    jit = [g.capability for g in gpus if g.how == "jit"]
    words = f"NVIDIA GPUs of compute capability {', '.join(native) or 'none natively'}"
    words += f" ({', '.join(jit)} after a first compilation)" if jit else ""
    words += f" with driver {driver} or newer" if driver else ""
    words += f", CUDA {cuda}" if cuda else ""
    return words + (f" and cuDNN {cudnn}" if cudnn else "")
