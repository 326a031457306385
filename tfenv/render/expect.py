"""What the suite should find in a wheel: `expect.json`, from the facts and the lock."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tfenv import facts
from tfenv.facts import schema
from tfenv.target import Target, within
from tfenv.toolchain import lookup

SCHEMA = 1


def fields(
    target: Target,
    *,
    distribution: str,
    python: str,
    versions: Mapping[str, str],
    device: str,
    released: bool,
) -> dict[str, Any]:
    """The content of expect.json.

    Args:
        target: what the wheel is for.
        distribution: its name on the package index.
        python: the minor version that it is checked in.
        versions: every locked package and its version.
        device: cpu, gpu or auto.
        released: whether it is the released wheel. Another was built by somebody: of the released
            wheel's record only what the target itself decides (CUDA or not) is expected of it.
    """
    info = lookup.build_info(target)
    found: dict[str, Any] = {
        "schema": SCHEMA,
        "target": target.name,
        "version": target.version,
        "distribution": distribution,
        "variant": target.variant,
        "platform": target.platform,
        "python": python,
        "build_info": {"is_cuda_build": target.cuda},
        "packages": dict(versions),
        "device": device,
        "features": features(target.version),
    }
    if info is not None and released:
        found["build_info"] = build_info(info)
        if info.git_version:
            found["git_version"] = info.git_version
        if info.cxx11_abi is not None:
            found["cxx11_abi"] = int(info.cxx11_abi)
    return found


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
