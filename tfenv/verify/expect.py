"""What the suite should find: `expect.json`, from the facts and the lock."""

from __future__ import annotations

from typing import Any

from tfenv import facts
from tfenv.facts import schema
from tfenv.target import within
from tfenv.toolchain import lookup
from tfenv.verify.subject import Subject

SCHEMA = 1


def expected(subject: Subject, device: str) -> dict[str, Any]:
    """The content of expect.json.

    A wheel given as a file was built by somebody: of the released wheel's record only what the
    target itself decides (CUDA or not) is expected of it.
    """
    target = subject.target
    info = lookup.build_info(target)
    released = subject.wheel is None
    fields: dict[str, Any] = {
        "schema": SCHEMA,
        "target": target.name,
        "version": target.version,
        "distribution": subject.distribution,
        "variant": target.variant,
        "platform": target.platform,
        "python": subject.python,
        "build_info": {"is_cuda_build": target.cuda},
        "packages": subject.versions,
        "device": device,
        "features": features(target.version),
    }
    if info is not None and released:
        fields["build_info"] = build_info(info)
        if info.git_version:
            fields["git_version"] = info.git_version
        if info.cxx11_abi is not None:
            fields["cxx11_abi"] = int(info.cxx11_abi)
    return fields


def build_info(info: schema.BuildInfo) -> dict[str, Any]:
    """The known keys of a wheel's own record, in the names that TensorFlow gives them."""
    known: dict[str, Any] = {"is_cuda_build": info.cuda_build}
    if info.cuda:
        known["cuda_version"] = info.cuda
    if info.cudnn:
        known["cudnn_version"] = info.cudnn
    if info.capabilities:
        known["cuda_compute_capabilities"] = info.capabilities
    return known


def features(version: str) -> dict[str, str]:
    """What the facts say that a release has."""
    return {
        row.name: row.value for row in facts.rows(schema.Feature) if within(version, row.versions)
    }
