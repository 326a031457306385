"""What a wheel says about itself: its metadata, and its `build_info.py`."""

from __future__ import annotations

import ast
from email.parser import HeaderParser

import msgspec

from tfenv.facts.update import listing
from tfenv.facts.update.index import Index

_BUILD_INFO = r"tensorflow/python/platform/build_info\.py"
_METADATA = r"[^/]+\.dist-info/METADATA"
_NOT_READ = (
    SyntaxError,
    ValueError,
    TypeError,
    MemoryError,
    RecursionError,
    msgspec.ValidationError,
)
_MOST = 64 << 10  # characters; the build_info.py of 2.21.0 has 1,100


def requirements(index: Index, distribution: str, file: listing.File) -> tuple[str, ...]:
    """The Requires-Dist of a wheel, in its own order."""
    text = index.member(distribution, file, _METADATA)
    found = HeaderParser().parsestr(text or "").get_all("Requires-Dist") or []
    return tuple(printable(str(value)) for value in found)


class BuildInfo(msgspec.Struct, frozen=True):
    """The values of `build_info.py` (TensorFlow 2.3 and newer)."""

    is_cuda_build: bool
    is_rocm_build: bool = False
    is_tensorrt_build: bool | None = None
    cuda_version: str = ""
    cudnn_version: str = ""
    cuda_compute_capabilities: list[str] = []
    cpu_compiler: str = ""


def build_info(index: Index, distribution: str, file: listing.File) -> BuildInfo | None:
    """What a wheel says about its build; None: it has no such file, or one of another form."""
    text = index.member(distribution, file, _BUILD_INFO)
    return parse(text) if text else None


def parse(text: str) -> BuildInfo | None:
    """The dictionary that the module assigns to `build_info`; nothing of it is run."""
    if len(text) > _MOST:
        return None
    try:
        for node in ast.parse(text).body:
            if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Call):
                continue
            names = [target.id for target in node.targets if isinstance(target, ast.Name)]
            if names == ["build_info"] and len(node.value.args) == 1:
                value = dict(ast.literal_eval(node.value.args[0]))
                return msgspec.convert(value, BuildInfo)
    except _NOT_READ:
        return None
    return None


def printable(text: str) -> str:
    """Text from outside as a table may hold it: one line, at most 300 characters."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())[:300]
