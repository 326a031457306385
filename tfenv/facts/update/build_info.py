"""`build-info.toml`: what new wheels say about themselves, from their `build_info.py`.

Only releases that the table does not have are opened. What a wheel says only when it is imported
(its git version, its C++ ABI) stays unknown.
"""

from __future__ import annotations

import re

from tfenv.facts import schema
from tfenv.facts.update import wheels
from tfenv.facts.update.index import Index
from tfenv.facts.update.model import UNKNOWN, Change, Outcome, Tables, rows
from tfenv.facts.update.opened import BuildInfo, build_info, printable
from tfenv.facts.versions import tree


def update(tables: Tables, index: Index) -> Outcome:
    """Rows of the wheels whose release has none."""
    old = rows(tables, schema.BuildInfo)
    known = {row.version for row in old}
    new: list[schema.BuildInfo] = []
    for wheel in rows(tables, schema.Wheel):
        if wheel.stub or tree(wheel.version) in known or ".post" in wheel.version:
            continue
        file = wheels.newest_file(index, wheel)
        if found := build_info(index, wheel.distribution, file):
            new.append(_row(wheel, found, file.filename))
    keys = [f"{row.distribution} {row.version} {row.platform}" for row in new]
    return Outcome((*old, *new), tuple(Change("new", key) for key in keys))


def _row(wheel: schema.Wheel, found: BuildInfo, file: str) -> schema.BuildInfo:
    name, version = wheel.distribution, wheel.version
    cuda, cudnn = _number(found.cuda_version), _number(found.cudnn_version)
    raw = f"{found.cuda_version} and {found.cudnn_version}"
    notes = [f"{UNKNOWN}git version and C++ ABI: the wheel was not imported"]
    notes += [f"the wheel says {raw}"] if (cuda, cudnn) != tuple(raw.split(" and ")) else []
    return schema.BuildInfo(
        distribution=name,
        version=version,
        platform=wheel.platform,
        cuda_build=found.is_cuda_build,
        rocm_build=found.is_rocm_build,
        tensorrt_build=found.is_tensorrt_build,
        cuda=cuda,
        cudnn=cudnn,
        capabilities=[c for c in found.cuda_compute_capabilities if _is_capability(c)],
        compiler=printable(found.cpu_compiler),
        file=file,
        source=f"tensorflow/python/platform/build_info.py of PyPI {name}=={version}, "
        "read by ranges of bytes",
        note=printable("; ".join(notes)),
    )


def _number(text: str) -> str:
    """A version as it is, or out of a Windows library's name: 64_112 is 11.2, 64_8 is 8."""
    if re.fullmatch(r"\d+(\.\d+)*", text):
        return text
    digits = re.fullmatch(r"64_(\d{1,3})", text)
    if digits is None:
        return ""
    return f"{digits[1][:-1]}.{digits[1][-1]}" if len(digits[1]) > 2 else digits[1]


def _is_capability(text: str) -> bool:
    return re.fullmatch(r"(sm|compute)_\d+[af]?", text) is not None
