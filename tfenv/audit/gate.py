"""`tfenv check-release`: a wheel against a policy, one answer per rule."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Literal

import msgspec

from tfenv.audit import attest, keyless
from tfenv.audit.policy import AttestationRules, Policy, PublishedRules, VerifyRules, WheelRules
from tfenv.errors import BadWheelError, DownloadError, UsageError
from tfenv.wheel.inspect import ISA_ORDER, Inspection, inspect
from tfenv.wheel.tags import number, pep600


class Rule(msgspec.Struct, frozen=True):
    """The answer to one rule of the policy."""

    id: str
    status: Literal["passed", "failed"]
    detail: str


class Gate(msgspec.Struct, frozen=True):
    """All answers about one wheel. Field names are the contract of `check-release --json`."""

    wheel: str
    sha256: str
    ok: bool
    rules: list[Rule]


def check(wheel: Path, policy: Policy, base: Path, report: Path | None = None) -> Gate:
    """Answer every rule.

    Args:
        wheel: the file to be released, with its attestations beside it.
        policy: the rules.
        base: the folder that the policy's own paths start from.
        report: `report.json` of `tfenv verify`.

    A wheel that cannot be read fails the rule `readable`, and nothing else is asked.
    """
    try:
        found = inspect(wheel)
    except BadWheelError as error:
        rules = [Rule("readable", "failed", f"{error.what}: {error.why}")]
        return Gate(wheel.name, "", ok=False, rules=rules)
    rules = [Rule("readable", "passed", f"{found.members} members")]
    rules += _wheel(found, policy.wheel)
    if policy.published is not None:
        rules += _published(found, policy.published, base)
    if policy.attestation is not None:
        rules += _attestation(wheel, policy.attestation, base)
    if policy.verify is not None:
        rules += _verified(found, policy.verify, report)
    return Gate(found.file, found.sha256, ok=all(r.status == "passed" for r in rules), rules=rules)


def _rule(name: str, holds: bool, detail: str) -> Rule:
    return Rule(name, "passed" if holds else "failed", detail)


def _wheel(found: Inspection, rules: WheelRules) -> Iterator[Rule]:
    yield _rule("record", found.record_ok, (found.record_faults or ["RECORD fits every member"])[0])
    claimed = ", ".join(found.tags.claimed)
    yield _rule(
        "tags-kept", found.tags.honoured, f"{claimed}; the libraries allow {found.tags.real}"
    )
    accepted = {"record", "tag-broken", *rules.allow_findings}
    others = [f for f in found.findings if f.code not in accepted and f.severity != "info"]
    told = "; ".join(f"{f.code}: {f.path}: {f.detail}" for f in others[:3])
    yield _rule("findings", not others, told or "nothing else is wrong")
    if rules.max_size_mib is not None:
        size = found.size / (1 << 20)
        yield _rule("size", size <= rules.max_size_mib, f"{size:.1f} of {rules.max_size_mib:g} MiB")
    if rules.tags:
        allowed = {pep600(tag) for tag in rules.tags}
        yield _rule("tags", {pep600(tag) for tag in found.tags.claimed} <= allowed, claimed)
    yield from _ceilings(found, rules)
    yield from _gpu(found, rules)
    banned = [n for n in found.needed if any(fnmatchcase(n, p) for p in rules.forbid_libraries)]
    if rules.forbid_libraries:
        yield _rule("libraries", not banned, ", ".join(banned) or "no forbidden library is needed")


def _ceilings(found: Inspection, rules: WheelRules) -> Iterator[Rule]:
    for name, has, ceiling in (
        ("glibc", found.glibc, rules.max_glibc),
        ("glibcxx", found.glibcxx, rules.max_glibcxx),
    ):
        if ceiling:
            holds = number(has or "0") <= number(ceiling)
            yield _rule(name, holds, f"needs {has or 'none'}, at most {ceiling}")
    if rules.max_isa:
        known = found.isa_floor in ISA_ORDER and rules.max_isa in ISA_ORDER
        holds = known and ISA_ORDER.index(found.isa_floor) <= ISA_ORDER.index(rules.max_isa)
        yield _rule(
            "isa", holds, f"{found.isa_floor}, at most {rules.max_isa}: {found.isa_evidence}"
        )
    if rules.cxx11_abi is not None:
        yield _rule("cxx11-abi", found.cxx11_abi is rules.cxx11_abi, f"it is {found.cxx11_abi}")


def _gpu(found: Inspection, rules: WheelRules) -> Iterator[Rule]:
    sass = set(found.cuda.sass) if found.cuda else set()
    ptx = set(found.cuda.ptx) if found.cuda else set()
    for name, wanted, has in (
        ("sass", set(rules.require_sass), sass),
        ("ptx", set(rules.require_ptx), ptx),
    ):
        if wanted:
            missing = ", ".join(sorted(wanted - has))
            yield _rule(name, not missing, f"missing: {missing}" if missing else "all are there")
    if rules.forbid_sass:
        extra = ", ".join(sorted(sass & set(rules.forbid_sass)))
        yield _rule("forbidden-sass", not extra, extra or "none is there")


def _published(found: Inspection, rules: PublishedRules, base: Path) -> Iterator[Rule]:
    if rules.sha256:
        same = found.sha256 == rules.sha256.lower()
        yield _rule("published-hash", same, f"sha256 {found.sha256}")
    if rules.lock:
        from tfenv.audit.sbom import pins_of
        from tfenv.lock import store

        lock = store.shipped(rules.lock)
        pins = pins_of(lock) if lock else ()
        pin = next((pin for pin in pins if pin.file == found.file), None)
        if pin is None:
            yield _rule("locked-hash", False, f"the lock of {rules.lock} holds no {found.file}")
        else:
            yield _rule("locked-hash", pin.sha256 == found.sha256, f"the lock says {pin.sha256}")

    if rules.index or rules.publisher:
        yield from _on_index(found, rules, base)


def _on_index(found: Inspection, rules: PublishedRules, base: Path) -> Iterator[Rule]:
    """What the package index says of the file: its hash, and who published it."""
    from tfenv.audit import published
    from tfenv.facts.update.index import configured

    try:
        index = configured("" if rules.index in ("", "default") else rules.index)
        listed = published.find(index, found.name, found.file)
    except (DownloadError, UsageError) as error:
        yield _rule("index-hash", False, f"{error.what}: {error.why}")
        return
    if listed is None:
        yield _rule("index-hash", False, f"the index holds no {found.file}")
        return
    yield _rule("index-hash", listed.sha256 == found.sha256, f"the index says {listed.sha256}")
    if not listed.provenance:
        told = "the index has no attestation of it"
        yield _rule("index-attestation", not rules.publisher, told)
        return
    config = base / rules.trust_config if rules.trust_config else None
    try:
        document = published.provenance(index, listed.provenance)
        named = published.publishers(document, found.file, found.sha256, config)
    except (BadWheelError, DownloadError) as error:
        yield _rule("index-attestation", False, f"{error.what}: {error.why}")
        return
    right = not rules.publisher or set(named) == {rules.publisher}
    wanted = "" if right else f", not by {rules.publisher}"
    yield _rule("index-attestation", right, f"published by {', '.join(named)}{wanted}")


def _attestation(wheel: Path, rules: AttestationRules, base: Path) -> Iterator[Rule]:
    where = attest.paths(wheel)
    if not rules.required and not (where.sbom.exists() or where.provenance.exists()):
        yield _rule("attestation", True, "not there, and not required")
        return
    signer: keyless.Signer | None = None
    if rules.identity and rules.issuer:
        config = base / rules.trust_config if rules.trust_config else None
        signer = keyless.Signer(rules.identity, rules.issuer, config)
    problems = attest.verify(wheel, [base / key for key in rules.keys], signer=signer)
    for document in ("sbom", "provenance"):
        told = "; ".join(p.detail for p in problems if p.document == document)
        yield _rule(document, not told, told or "there, and about this wheel")
    if where.sbom.exists():
        fault = attest.schema_fault(where.sbom.read_text("utf-8", "replace"))
        yield _rule("sbom-schema", not fault, fault or "it fits CycloneDX 1.6")


class _Check(msgspec.Struct):
    id: str
    status: str
    detail: str = ""


class _Report(msgspec.Struct):
    """What is read of the report of `tfenv verify`."""

    target: str
    wheel: str
    checks: list[_Check]


def _verified(found: Inspection, rules: VerifyRules, report: Path | None) -> Iterator[Rule]:
    if report is None:
        yield _rule("verified", not rules.required, "no report of `tfenv verify` was given")
        return
    try:
        content = msgspec.json.decode(report.read_bytes(), type=_Report)
    except (OSError, msgspec.MsgspecError, RecursionError) as error:
        yield _rule("verified", False, f"the report cannot be read: {error}")
        return
    about = found.file in content.wheel or found.sha256 in content.wheel
    yield _rule("verified-wheel", about, f"the report is about {content.wheel}")
    passed = [c for c in content.checks if c.status == "passed"]
    bad = [c.id for c in content.checks if not _accepted(c, rules)]
    told = f"not accepted: {', '.join(bad[:5])}" if bad else f"{len(passed)} checks passed"
    yield _rule("verified", bool(passed) and not bad, told)


def _accepted(check: _Check, rules: VerifyRules) -> bool:
    patterns = {"skipped": rules.allow_skips, "known": rules.allow_known}.get(check.status, ())
    return check.status == "passed" or any(fnmatchcase(check.id, p) for p in patterns)
