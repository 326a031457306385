"""How a wheel was made: SLSA provenance v1 in an in-toto statement v1.

Materials are the lock's artifacts, the invocation is the run that built the wheel. The SBOM is a
by-product with its hash, so that one signature covers wheel, inputs and SBOM.
(slsa.dev/spec/v1.0/provenance; in-toto attestation framework, statement v1.)
"""

from __future__ import annotations

import hashlib
from typing import Any

import msgspec

from tfenv import __version__
from tfenv.audit.sbom import Subject, pins_of, sha256_of
from tfenv.lock.model import Artifact, Lock

STATEMENT = "https://in-toto.io/Statement/v1"
PREDICATE = "https://slsa.dev/provenance/v1"
BUILD_TYPE = "urn:tfenv:build:v1"


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of the build. Empty fields are left out of the statement.

    Attributes:
        id: of the run: the name of its folder.
        engine: docker, nix, conda, host.
        started, finished: RFC 3339 in UTC.
        inputs: hash of all that the build depended on.
        source: digest of the source tree.
        cpu_features: the instruction sets that `--march` meant on the machine that built.
    """

    id: str = ""
    engine: str = ""
    started: str = ""
    finished: str = ""
    inputs: str = ""
    source: str = ""
    cpu_features: list[str] = []


def statement(subject: Subject, lock: Lock, run: Run, sbom: str, sbom_name: str) -> dict[str, Any]:
    """The statement about one wheel."""
    inner = {
        "inputs": run.inputs,
        "sourceTree": run.source,
        "cpuFeatures": run.cpu_features,
    }
    metadata = {"invocationId": run.id, "startedOn": run.started, "finishedOn": run.finished}
    return {
        "_type": STATEMENT,
        "subject": [{"name": subject.file, "digest": {"sha256": subject.sha256}}],
        "predicateType": PREDICATE,
        "predicate": {
            "buildDefinition": {
                "buildType": BUILD_TYPE,
                "externalParameters": {"target": lock.target},
                "internalParameters": {
                    **{key: value for key, value in inner.items() if value},
                    "toolchain": {key: value.value for key, value in lock.toolchain.items()},
                    "lockAsOf": lock.as_of,
                },
                "resolvedDependencies": _materials(lock),
            },
            "runDetails": {
                "builder": {
                    "id": f"urn:tfenv:builder:{run.engine or 'unknown'}",
                    "version": {"tfenv": __version__},
                },
                "metadata": {key: value for key, value in metadata.items() if value},
                "byproducts": [
                    {
                        "name": sbom_name,
                        "digest": {"sha256": hashlib.sha256(sbom.encode()).hexdigest()},
                        "mediaType": "application/vnd.cyclonedx+json",
                    }
                ],
            },
        },
    }


def _materials(lock: Lock) -> list[dict[str, Any]]:
    found = [_material(artifact) for artifact in lock.artifact]
    found += [{"name": pin.file, "digest": {"sha256": pin.sha256}} for pin in pins_of(lock)]
    return found


def _material(artifact: Artifact) -> dict[str, Any]:
    digest: dict[str, str] = {}
    if artifact.nar_hash:
        digest["narHash"] = artifact.nar_hash
    elif sha256_of(artifact):
        digest["sha256"] = sha256_of(artifact)
    if artifact.rev:
        digest["gitCommit"] = artifact.rev
    found: dict[str, Any] = {"name": f"{artifact.kind}/{artifact.name}-{artifact.version}"}
    if artifact.urls:
        found["uri"] = artifact.urls[0]
    if digest:
        found["digest"] = digest
    else:
        found["annotations"] = {"unpinned": artifact.unpinned or "no hash is known"}
    return found
