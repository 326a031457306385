"""What is in a wheel and what made it, as CycloneDX 1.6 JSON.

Everything comes from the lock and the wheel: the same input gives the same bytes, so that an SBOM
can be compared and needs no clock. (CycloneDX: ECMA-424; package URLs: the purl specification.)
"""

from __future__ import annotations

import base64
import binascii
import json
import uuid
from collections.abc import Sequence
from typing import Any, NamedTuple
from urllib.parse import quote

from tfenv import __version__
from tfenv.facts import pinned
from tfenv.lock.model import Artifact, Lock

_TYPES = {
    "source": "library",
    "bazel": "application",
    "bazelisk": "application",
    "cuda": "framework",
    "cudnn": "framework",
    "image": "container",
    "nixpkgs": "library",
    "cpython": "platform",
    "patch": "file",
}


class Subject(NamedTuple):
    """The wheel that an SBOM or a provenance is about.

    The hash is empty in an SBOM that lies inside the wheel, which cannot hold its own.
    """

    file: str
    sha256: str
    name: str
    version: str


def make(subject: Subject, lock: Lock) -> str:
    """The SBOM as text, ending in a line feed."""
    components = [_of_artifact(artifact) for artifact in lock.artifact]
    components += [_of_pin(pin) for pin in pins_of(lock)]
    unique = {str(component["bom-ref"]): component for component in components}
    root = _root(subject)
    document = {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, f'tfenv:{subject.file}:{subject.sha256}')}",
        "version": 1,
        "metadata": {
            "component": root,
            "tools": {
                "components": [{"type": "application", "name": "tfenv", "version": __version__}]
            },
            "properties": [
                {"name": "tfenv:target", "value": lock.target},
                {"name": "tfenv:lock-as-of", "value": lock.as_of},
            ],
        },
        "components": [unique[ref] for ref in sorted(unique)],
        "dependencies": [{"ref": root["bom-ref"], "dependsOn": sorted(unique)}],
    }
    return json.dumps(document, indent=2, sort_keys=True) + "\n"


def pins_of(lock: Lock) -> Sequence[pinned.Pinned]:
    """The Python packages of a lock: what the wheel runs with, then what builds need."""
    if lock.python is None:
        return ()
    names = [name for name in (lock.python.file, lock.python.build_file) if name]
    texts = [(pinned.shipped(name), name) for name in names]
    return [pin for text, name in texts if text for pin in pinned.parse(text, name).pins]


def _root(subject: Subject) -> dict[str, Any]:
    found: dict[str, Any] = {
        "type": "library",
        "bom-ref": f"wheel:{subject.sha256 or subject.file}",
        "name": subject.name,
        "version": subject.version,
        "purl": f"pkg:pypi/{quote(subject.name.lower().replace('_', '-'))}@{quote(subject.version)}",
        "properties": [{"name": "tfenv:file", "value": subject.file}],
    }
    if subject.sha256:
        found["hashes"] = [{"alg": "SHA-256", "content": subject.sha256}]
    return found


def _of_pin(pin: pinned.Pinned) -> dict[str, Any]:
    return {
        "type": "library",
        "bom-ref": f"pypi:{pin.name}@{pin.version}:{pin.sha256}",
        "name": pin.name,
        "version": pin.version,
        "purl": f"pkg:pypi/{quote(pin.name.lower().replace('_', '-'))}@{quote(pin.version)}",
        "hashes": [{"alg": "SHA-256", "content": pin.sha256}],
        "properties": [{"name": "tfenv:file", "value": pin.file}],
    }


def _of_artifact(artifact: Artifact) -> dict[str, Any]:
    digest = sha256_of(artifact)
    mark = digest or "unpinned"
    properties = [
        {"name": "tfenv:kind", "value": artifact.kind},
        {"name": "tfenv:source", "value": artifact.source},
    ]
    if artifact.nar_hash:
        properties.append({"name": "tfenv:nar-hash", "value": artifact.nar_hash})
    if artifact.rev:
        properties.append({"name": "tfenv:revision", "value": artifact.rev})
    if artifact.unpinned:
        properties.append({"name": "tfenv:unpinned", "value": artifact.unpinned})
    found: dict[str, Any] = {
        "type": _TYPES.get(artifact.kind, "library"),
        "bom-ref": f"{artifact.kind}:{artifact.name}@{artifact.version}:{mark}",
        "name": artifact.name,
        "version": artifact.version,
        "purl": f"pkg:generic/{quote(artifact.name, safe='')}@{quote(artifact.version, safe='')}",
        "properties": properties,
    }
    if digest and not artifact.nar_hash:  # a NAR hash is not the hash of a file
        found["hashes"] = [{"alg": "SHA-256", "content": digest}]
    if artifact.urls:
        found["externalReferences"] = [{"type": "distribution", "url": artifact.urls[0]}]
    return found


def sha256_of(artifact: Artifact) -> str:
    """The sha256 of an artifact in hexadecimal, whatever it is of; empty where unpinned."""
    if artifact.sha256:
        return artifact.sha256
    if artifact.digest.startswith("sha256:"):
        return artifact.digest.removeprefix("sha256:")
    if artifact.nar_hash.startswith("sha256-"):
        try:
            return base64.b64decode(artifact.nar_hash.removeprefix("sha256-")).hex()
        except binascii.Error:
            return ""
    return ""
