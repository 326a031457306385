"""What the facts tables add to a hit: is this architecture too new or gone, which Pythons does
that release have wheels for, was that image ever there.

Each function takes the captures and the context of a hit and returns more captures.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from tfenv import facts
from tfenv.diagnose import devices, gpu, versions
from tfenv.diagnose.context import Context
from tfenv.diagnose.signatures import name_list
from tfenv.facts.schema import Image, Wheel

Captures = Mapping[str, str]


def nvcc_arch(captures: Captures, context: Context, line: int) -> dict[str, str]:
    """`compute_86` against the CUDA version in use: too-new, removed, invalid or either."""
    number = re.sub(r"\D+.*\Z", "", re.sub(r"\A\D*", "", captures.get("arch", "")))
    if not number:
        return {"arch_is": "invalid"}
    sm = f"{number[:-1]}.{number[-1]}" if len(number) > 1 else f"{number}.0"
    seen = [v for v in context.values("cuda_seen") if "." in v]
    cuda = seen[-1] if seen else context.given.get("target_cuda", "")
    if cuda and sm in devices.capabilities(cuda):
        cuda = ""  # that CUDA knows the card, so the nvcc that refused it is another one
    first, last = devices.spans(sm)
    added = {"capability": sm, "first_cuda": first, "last_cuda": last, "cuda_in_use": cuda}
    if (
        cuda
        and number == versions.minor(cuda).replace(".", "")
        and sm not in devices.capabilities(cuda)
    ):
        return {**added, "arch_is": "invalid"}
    if not first:
        return {**added, "arch_is": "invalid"}
    if cuda:
        kind = "too-new" if versions.key(cuda) < versions.key(first) else "removed"
        return {**added, "arch_is": kind}
    old = bool(context.value("old_bazel", line))
    if old and versions.key(sm) >= (10,):
        return {**added, "arch_is": "invalid"}  # no such device in the days of this Bazel
    gone = versions.key(last) < versions.key(devices.newest_cuda())
    fresh = versions.key(first) > versions.key(devices.first_cuda())
    kind = "either" if gone and fresh else "removed" if gone else "too-new"
    if kind == "either" and (old or versions.key(sm) < (6, 2)):
        kind = "too-new" if old else "removed"
    return {**added, "arch_is": kind}


def bazel_option(captures: Captures, _context: Context, _line: int) -> dict[str, str]:
    """Whether a Bazel without this option is too new (it went) or too old (it came)."""
    option = captures.get("option", "").lstrip("-").split("=")[0].strip("'")
    if option in name_list("bazel-options-removed"):
        return {"option_is": "removed"}
    if option in name_list("bazel-options-newer"):
        return {"option_is": "newer"}
    return {"option_is": "unknown"}


def python_in_use(context: Context, line: int) -> str:
    """The Python that the log is about, as `3.8`, or an empty string."""
    stated = context.value("python_version", line)
    return versions.minor(stated or context.value("python_path", line))


def no_wheel(captures: Captures, context: Context, line: int) -> dict[str, str]:
    """Why an installer found no wheel: this Python is too-new or too-old, pip is too old, or
    either cannot be told."""
    requirement = captures.get("requirement", "tensorflow").rstrip(",;)")
    name, _, wanted = re.sub(r"[<>~!]=?|==", "=", requirement, count=1).partition("=")
    name = name.split("[")[0].lower().replace("_", "-")
    if not name.startswith(("tensorflow", "tf-", "tflite", "intel-tensorflow")):
        return {"wheel_is": "other"}
    wanted = wanted.strip("=<>~! ")
    python = python_in_use(context, line)
    if captures.get("tag", ""):
        python = versions.minor(captures["tag"])
    offered = re.findall(r"\d+(?:\.\d+)+", captures.get("offered", ""))
    added = {"found": python, "requirement": requirement}
    return {**added, "wheel_is": _verdict(name, wanted, python, offered, context, line)}


def _verdict(
    name: str, wanted: str, python: str, offered: list[str], context: Context, line: int
) -> str:
    pythons = _pythons(name, wanted)
    pip = context.value("pip_version", line)
    blind = bool(pip) and versions.compare(pip, "<", "19.0")  # knows no manylinux2010
    if blind and versions.compare(wanted, ">=", "1.15") and (not python or python in pythons):
        return "pip"
    if python and pythons:
        if versions.key(python) > versions.key(pythons[-1]):
            return "too-new"
        if versions.key(python) < versions.key(pythons[0]):
            return "too-old"
        if python in pythons and (not pip or versions.compare(pip, "<", "20.3")):
            return "pip"
        return "either"
    if python and versions.key(python) < (3, 5):
        return "too-old"
    if offered and wanted:
        if versions.key(max(offered, key=versions.key)) < versions.key(wanted):
            return "too-old"
        if versions.key(min(offered, key=versions.key)) > versions.key(wanted):
            return "too-new"
    return "either"


def _pythons(name: str, wanted: str) -> list[str]:
    """The Pythons that a release has wheels for; for no version, those of all releases."""
    rows = [row for row in facts.rows(Wheel) if row.distribution == name]
    chosen = [
        r for r in rows if not wanted or r.version == wanted or r.version.startswith(f"{wanted}.")
    ]
    pythons = {p for row in chosen for p in row.pythons}
    return sorted(pythons, key=versions.key)


def wheel_file(captures: Captures, context: Context, line: int) -> dict[str, str]:
    """Why a wheel file does not fit: its Python tag (`tag`), or a platform tag newer than pip."""
    name = captures.get("wheel", "").replace(".whl", "").replace("\\", "/").rsplit("/", 1)[-1]
    match = re.search(r"-(?:cp|py)(\d+)-([\w.]+)-([\w.]+)\Z", name)
    python = python_in_use(context, line)
    pip = context.value("pip_version", line)
    if match is None:
        return {"wheel_is": "tag"}
    wanted = versions.minor(match.group(1))
    added = {"wanted": wanted, "found": python, "wheel": name}
    known_from = {"manylinux2010": "19.0", "manylinux2014": "19.3", "manylinux_": "20.3"}
    pip_decides = not python or wanted == python
    needs = max(
        (v for tag, v in known_from.items() if tag in match.group(3)), default="", key=versions.key
    )
    if needs and pip_decides and pip and versions.compare(pip, "<", needs):
        return {**added, "wheel_is": "pip"}
    return {**added, "wheel_is": "tag"}


def python_range(captures: Captures, context: Context, line: int) -> dict[str, str]:
    """Whether the running Python is above or below what a package allows."""
    found = captures.get("found") or python_in_use(context, line)
    lower = re.search(r">=?\s*([\d.]+)", captures.get("range", ""))
    upper = re.search(r"<=?\s*([\d.]+)", captures.get("range", ""))
    if lower and versions.compare(found, "<", lower.group(1).strip(".")):
        return {"range_is": "too-old"}
    if upper and versions.compare(found, ">=", upper.group(1).strip(".")):
        return {"range_is": "too-new"}
    return {"range_is": "unknown"}


def numpy_api(captures: Captures, _context: Context, _line: int) -> dict[str, str]:
    """Whether NumPy is older than the build's, or a NumPy 2 under a build for NumPy 1."""
    built, found = captures["built"], captures["found"]
    numbers = [
        int(x, 16) if x.startswith("0x") or not x.isdigit() else int(x) for x in (built, found)
    ]
    if numbers[1] >= 0x2000000:
        return {"api_is": "numpy2"}
    return {"api_is": "old" if numbers[0] > numbers[1] else "numpy2"}


_ABI = re.compile(r"cxx11|abi:cxx11|tensorflow\w*(?:ESs|RKSs)")


def symbol(captures: Captures, _context: Context, _line: int) -> dict[str, str]:
    """What an undefined symbol belongs to: the C++11 string ABI, TensorFlow, or something else."""
    name = captures.get("symbol", "")
    if "tensorflow" not in name and "tsl" not in name and "absl" not in name:
        return {"symbol_is": "abi" if "_ZN10tensorflow" in name else "other"}
    if _ABI.search(name):
        return {"symbol_is": "abi"}
    return {"symbol_is": "tensorflow" if "tensorflow" in name else "other"}


def tf1_api(captures: Captures, _context: Context, _line: int) -> dict[str, str]:
    """Whether a missing attribute of `tensorflow` is one that TensorFlow 1 had."""
    return {
        "name_is": "tf1" if captures.get("name", "") in name_list("tensorflow-1-names") else "other"
    }


def cuda_soname(captures: Captures, context: Context, _line: int) -> dict[str, str]:
    """Whether a missing shared library is one of CUDA's, and whether another CUDA is there."""
    name, version = captures.get("library", ""), captures.get("version", "")
    if name not in {"cudart", "cublas", "cublasLt", "cufft", "curand", "cusolver", "cusparse"}:
        return {"library_is": "other"}
    seen = [v for v in context.values("cuda_seen") if "." in v]
    other = bool(seen) and not any(gpu.same_cuda(version, have) for have in seen)
    return {"library_is": "cuda", "cuda_other": "yes" if other else "", "wanted": version}


def docker_image(captures: Captures, _context: Context, _line: int) -> dict[str, str]:
    """Whether a missing image tag once existed (removed) or never did."""
    image = captures.get("image", "").strip(":,'").removeprefix("docker.io/").split("@")[0]
    repository, _, tag = image.rpartition(":") if ":" in image else (image, "", "")
    tag = captures.get("tag") or tag
    repository = repository.removeprefix("library/").strip(":")
    added = {"image": f"{repository}:{tag}", "repository": repository}
    rows = [r for r in facts.rows(Image) if r.image == repository and r.tag == tag and tag]
    if any(row.gone for row in rows) or repository.startswith("nvidia/"):
        return {**added, "image_is": "removed"}
    if repository.startswith("tensorflow/") and not rows:
        return {**added, "image_is": "never"}
    return {**added, "image_is": "removed" if rows else "unknown"}


FUNCTIONS: dict[str, Callable[[Captures, Context, int], dict[str, str]]] = {
    "nvcc-arch": nvcc_arch,
    "bazel-option": bazel_option,
    "no-wheel": no_wheel,
    "wheel-file": wheel_file,
    "python-range": python_range,
    "numpy-api": numpy_api,
    "symbol": symbol,
    "tf1-api": tf1_api,
    "cuda-soname": cuda_soname,
    "docker-image": docker_image,
}
