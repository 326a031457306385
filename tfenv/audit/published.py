"""Whether the package index has published this very file, and whom its attestations name.

The index's page gives each file's hash, and since PEP 740 where its provenance lies: a publisher,
and attestations that the publisher signed by Sigstore. They are verified here, offline.
"""

from __future__ import annotations

import urllib.parse
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
from packaging.utils import canonicalize_name

from tfenv.audit import keyless
from tfenv.errors import BadWheelError, DownloadError, MissingExtraError, one_line

if TYPE_CHECKING:
    from pathlib import Path

    from pypi_attestations import Attestation, Publisher
    from sigstore.verify import Verifier

_ACCEPT = "application/vnd.pypi.integrity.v1+json"
_MOST = 16 << 20  # bytes of a provenance; real ones have some tens of kilobytes
_HOSTS = {"GitHub": "https://github.com/", "GitLab": "https://gitlab.com/"}


class _File(msgspec.Struct):
    filename: str
    hashes: dict[str, str] = {}
    provenance: str | None = None


class _Page(msgspec.Struct):
    files: list[_File]


class Listed(NamedTuple):
    """A file as the index lists it; the address of its provenance is empty where it has none."""

    sha256: str
    provenance: str


def find(index: str, distribution: str, file: str) -> Listed | None:
    """What the index says of one file; None: it does not have it.

    Raises:
        DownloadError: no answer, or one in another form.
    """
    from tfenv.facts.update.index import ask

    name = canonicalize_name(distribution)
    page = ask(index, name)
    if not page:
        return None
    try:
        files = msgspec.json.decode(page, type=_Page).files
    except (msgspec.MsgspecError, RecursionError) as error:
        raise _no_answer(name, str(error)) from error
    found = next((item for item in files if item.filename == file), None)
    if found is None:
        return None
    base = f"{index}/{name}/"
    address = urllib.parse.urljoin(base, found.provenance) if found.provenance else ""
    if address and urllib.parse.urlsplit(address).scheme != urllib.parse.urlsplit(base).scheme:
        raise _no_answer(name, "its provenance lies at an address of another kind")
    return Listed(found.hashes.get("sha256", ""), address)


def provenance(index: str, address: str) -> bytes:
    """The provenance of a file.

    Raises:
        DownloadError: it did not come.
    """
    from tfenv.facts.update.index import document

    return document(index, address, _ACCEPT, _MOST, "a provenance")


def _no_answer(what: str, why: str) -> DownloadError:
    return DownloadError(
        f"the package index did not give {what}", one_line(why)[:200], "try again, or another index"
    )


def publishers(document: bytes, file: str, sha256: str, config: Path | None = None) -> list[str]:
    """Verify every attestation of a provenance; who published the file.

    Args:
        document: the provenance, as the index gives it.
        file, sha256: what it must be about.
        config: of a Sigstore instance of one's own.

    Raises:
        BadWheelError: an attestation is damaged, about another file, or not the publisher's.
        MissingExtraError: pypi-attestations is not installed.
    """
    try:
        from pydantic import ValidationError
        from pypi_attestations import Provenance
        from sigstore.verify import Verifier
    except ImportError as error:
        raise MissingExtraError("attest", "pypi-attestations") from error
    try:
        found = Provenance.model_validate_json(document)
    except ValidationError as error:
        raise _bad(f"it is no provenance: {error.error_count()} fields are wrong") from error
    verifier = Verifier(trusted_root=keyless.trusted_root(config))
    named: list[str] = []
    for bundle in found.attestation_bundles:
        for attestation in bundle.attestations:
            _verify(verifier, attestation, bundle.publisher, file, sha256)
        if bundle.attestations:
            named.append(_name(bundle.publisher))
    if not named:
        raise _bad("it holds no attestation")
    return named


def _verify(
    verifier: Verifier, attestation: Attestation, publisher: Publisher, file: str, sha256: str
) -> None:
    """Whether the publisher signed that it published this file."""
    from pypi_attestations import AttestationError
    from sigstore.errors import Error

    try:
        # The library's own `verify` knows the public instance only; its policy is what it uses.
        policy = publisher._as_policy()  # noqa: SLF001
        _, payload = verifier.verify_dsse(attestation.to_bundle(), policy)
        statement: dict[str, Any] = msgspec.json.decode(payload, type=dict[str, Any])
        subjects = [(s["name"], s["digest"].get("sha256")) for s in statement["subject"]]
    except (AttestationError, Error, ValueError, TypeError, KeyError, AttributeError) as error:
        raise _bad(one_line(str(error))[:200]) from error
    if subjects != [(file, sha256)]:
        raise _bad(f"it is about {one_line(str(subjects))[:150]}")


def _name(publisher: Publisher) -> str:
    """The repository's address, or what else a publisher is called."""
    repository = getattr(publisher, "repository", "")
    if publisher.kind in _HOSTS and repository:
        return _HOSTS[publisher.kind] + repository
    return getattr(publisher, "email", "") or publisher.kind


def _bad(why: str) -> BadWheelError:
    return BadWheelError(
        "the index's attestation does not hold", why, "ask the publisher, and do not use the file"
    )
