"""JSON Schemas of everything that tfenv prints with `--json` or reads and writes as a file.

They are made from the types that the code itself uses. Documents that a command puts together by
hand are described here, field by field. More fields may come; these stay.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from tfenv.audit.attest import Problem
from tfenv.audit.declared import Declaration
from tfenv.audit.gate import Gate
from tfenv.audit.model import Audit
from tfenv.audit.policy import Policy
from tfenv.build.ci import Job
from tfenv.build.preflight import Finding as Readiness
from tfenv.build.record import Record
from tfenv.diagnose.doctor import Finding
from tfenv.diagnose.machine import Probe
from tfenv.diagnose.model import Explanation
from tfenv.lock.model import Artifact, Lock, PythonLock, Value
from tfenv.verify.result import Report
from tfenv.wheel.inspect import Inspection

FOLDER = Path(__file__).with_name("schemas")
DIALECT = "https://json-schema.org/draft/2020-12/schema"


class Listed(msgspec.Struct):
    """A row of `tfenv list --json`, which prints an array of them."""

    name: str
    version: str
    variant: str
    platform: str
    product: str
    distribution: str
    python: str
    pythons: list[str]
    cuda: str
    bazel: str
    proven: str


class Shown(msgspec.Struct):
    """`tfenv show --json`. `python` is null where no Python lock ships."""

    target: str
    toolchain: dict[str, Value]
    artifacts: list[Artifact]
    python: PythonLock | None
    format_pins: dict[str, dict[str, Value]]
    download_bytes: int
    download_unknown: list[str]
    unpinned: list[Any]


class Rejected(msgspec.Struct):
    """A value that a rule refused."""

    value: str
    reason: str
    source: str


class Reasons(msgspec.Struct):
    """`tfenv why --json`."""

    target: str
    key: str
    value: str
    rule: str
    reason: str
    source: str
    rejected: list[Rejected]


class GeneratedFile(msgspec.Struct):
    path: str
    format: str
    purpose: str
    sha256: str


class Generated(msgspec.Struct):
    """`tfenv generate --json` for one target; an array for several."""

    target: str
    files: list[GeneratedFile]


class Attempt(msgspec.Struct):
    url: str
    problem: str


class FetchedFile(msgspec.Struct):
    name: str
    kind: str
    version: str
    sha256: str
    status: str
    path: str
    url: str
    attempts: list[Attempt]


class LeftOut(msgspec.Struct):
    name: str
    kind: str
    version: str
    reason: str


class FetchResult(msgspec.Struct):
    """`tfenv fetch --json`."""

    targets: list[str]
    bytes: int
    files: list[FetchedFile]
    left_out: list[LeftOut]


class Built(Record, frozen=True, kw_only=True):
    """`tfenv build --json`: the record beside the products, and what this call did."""

    unchanged: bool
    findings: list[Readiness]
    files: list[str]


class Attested(msgspec.Struct):
    """`tfenv attest --json`: paths of the documents written."""

    sbom: str
    provenance: str


class Checked(msgspec.Struct):
    """`tfenv attest --verify --json`."""

    wheel: str
    ok: bool
    problems: list[Problem]


class Diagnosis(msgspec.Struct):
    """`tfenv doctor --json`."""

    findings: list[Finding]
    target: str
    probe: str


class ContinuousIntegration(msgspec.Struct):
    """`tfenv export-ci --json`."""

    format: str
    jobs: list[Job]
    text: str


class Failure(msgspec.Struct):
    kind: str
    what: str
    why: str
    fix: str
    exit_code: int


class Failed(msgspec.Struct):
    """What any command prints with `--json` when it cannot do its work."""

    error: Failure


class Schema(NamedTuple):
    """One schema: the type it is made from, and where such a document comes from."""

    type: Any
    source: str


SCHEMAS: dict[str, Schema] = {
    "list": Schema(list[Listed], "`tfenv list --json`"),
    "show": Schema(Shown, "`tfenv show T --json`"),
    "why": Schema(Reasons, "`tfenv why T KEY --json`"),
    "generate": Schema(Generated, "`tfenv generate T --json`"),
    "fetch": Schema(FetchResult, "`tfenv fetch T --json`"),
    "build": Schema(Built, "`tfenv build T --json`"),
    "verify": Schema(Report, "`tfenv verify T --json`, `report.json`"),
    "inspect": Schema(Inspection, "`tfenv inspect WHEEL --json`"),
    "audit": Schema(Audit, "`tfenv audit A B --json`"),
    "attest": Schema(Attested, "`tfenv attest WHEEL --json`"),
    "attest-verify": Schema(Checked, "`tfenv attest WHEEL --verify --json`"),
    "check-release": Schema(Gate, "`tfenv check-release WHEEL --json`"),
    "explain": Schema(Explanation, "`tfenv explain LOG --json`"),
    "doctor": Schema(Diagnosis, "`tfenv doctor T --json`"),
    "export-ci": Schema(ContinuousIntegration, "`tfenv export-ci T --json`"),
    "error": Schema(Failed, "any command with `--json` that fails"),
    "lock": Schema(Lock, "`lock.toml`, as TOML"),
    "release-policy": Schema(Policy, "the policy of `tfenv check-release`, as TOML"),
    "declaration": Schema(Declaration, "`tfenv audit --declare FILE`, as TOML"),
    "build-record": Schema(Record, "`build.json` beside the products of a build"),
    "probe": Schema(Probe, "`tfenv doctor --save FILE`"),
}


def render(name: str) -> str:
    """One schema as its file's text."""
    schema = {
        "$schema": DIALECT,
        "$id": f"urn:tfenv:schema:{name}:1",
        "$comment": "Made from the code by `./noxw -s docs`.",
        **msgspec.json.schema(SCHEMAS[name].type, schema_hook=_anything),
    }
    return msgspec.json.format(msgspec.json.encode(schema), indent=2).decode() + "\n"


def _anything(kind: type) -> dict[str, Any]:
    """The schema of what may be any value."""
    if kind is object:
        return {"description": "any value"}
    raise NotImplementedError


def path(name: str) -> Path:
    """Where a schema lies in the installed package."""
    return FOLDER / f"{name}.schema.json"
