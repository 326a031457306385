"""Dead Simple Signing Envelope (DSSE 1.0) with a local Ed25519 or ECDSA P-256 key."""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from tfenv.errors import BadWheelError, FileFormatError, MissingExtraError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import (
        EllipticCurvePrivateKey,
        EllipticCurvePublicKey,
    )
    from cryptography.hazmat.primitives.asymmetric.ed25519 import (
        Ed25519PrivateKey,
        Ed25519PublicKey,
    )

    PrivateKey = Ed25519PrivateKey | EllipticCurvePrivateKey
    PublicKey = Ed25519PublicKey | EllipticCurvePublicKey

PAYLOAD_TYPE = "application/vnd.in-toto+json"
MAX_ENVELOPE = 64 << 20


def pae(payload_type: str, payload: bytes) -> bytes:
    """Pre-authentication encoding: what is really signed (DSSE protocol, section "Signature")."""
    kind = payload_type.encode()
    return b"DSSEv1 %d %s %d %s" % (len(kind), kind, len(payload), payload)


def seal(payload: bytes, key_file: Path) -> str:
    """Sign a statement; the envelope as text, ending in a line feed.

    Raises:
        MissingExtraError: cryptography is not installed.
        FileFormatError: the key cannot be read or is of another kind.
    """
    key = _private(key_file)
    message = pae(PAYLOAD_TYPE, payload)
    envelope = {
        "payload": base64.b64encode(payload).decode("ascii"),
        "payloadType": PAYLOAD_TYPE,
        "signatures": [
            {
                "keyid": _key_id(key.public_key()),
                "sig": base64.b64encode(_sign(key, message)).decode("ascii"),
            }
        ],
    }
    return msgspec.json.format(msgspec.json.encode(envelope), indent=2).decode() + "\n"


def open_sealed(text: bytes, key_files: list[Path]) -> dict[str, Any]:
    """The statement of an envelope that one of the public keys has signed.

    Raises:
        BadWheelError: the envelope is damaged, or no key matches.
        MissingExtraError, FileFormatError: as for `seal`.
    """
    try:
        envelope = msgspec.json.decode(text)
        payload = base64.b64decode(envelope["payload"], validate=True)
        kind = envelope["payloadType"]
        signatures = [base64.b64decode(s["sig"], validate=True) for s in envelope["signatures"]]
        statement = msgspec.json.decode(payload)
    except (msgspec.MsgspecError, RecursionError, KeyError, TypeError, ValueError) as error:
        raise _bad("the provenance is damaged", f"it is no DSSE envelope: {error}") from error
    if kind != PAYLOAD_TYPE or not isinstance(statement, dict):
        raise _bad("the provenance is damaged", "its payload is no in-toto statement")
    message = pae(kind, payload)
    keys = [_public(file) for file in key_files]
    if not any(_matches(key, signature, message) for key in keys for signature in signatures):
        raise _bad("the provenance is not signed by this key", "no signature matches")
    return statement


def _bad(what: str, why: str) -> BadWheelError:
    return BadWheelError(what, why, "get the files again from who signed them, or sign them anew")


def _private(file: Path) -> PrivateKey:
    serialization = _serialization()
    from cryptography.hazmat.primitives.asymmetric import ec, ed25519

    try:
        key = serialization.load_pem_private_key(file.read_bytes(), password=None)
    except (OSError, ValueError, TypeError) as error:
        raise _unreadable(file, error) from error
    if isinstance(key, (ed25519.Ed25519PrivateKey, ec.EllipticCurvePrivateKey)):
        return key
    raise _unreadable(file, ValueError("neither Ed25519 nor ECDSA"))


def _public(file: Path) -> PublicKey:
    serialization = _serialization()
    from cryptography.hazmat.primitives.asymmetric import ec, ed25519

    try:
        key = serialization.load_pem_public_key(file.read_bytes())
    except (OSError, ValueError, TypeError) as error:
        raise _unreadable(file, error) from error
    if isinstance(key, (ed25519.Ed25519PublicKey, ec.EllipticCurvePublicKey)):
        return key
    raise _unreadable(file, ValueError("neither Ed25519 nor ECDSA"))


def _unreadable(file: Path, error: Exception) -> FileFormatError:
    return FileFormatError(
        f"the key {file.name} cannot be read",
        f"it is no unencrypted PEM key: {error}",
        "openssl genpkey -algorithm ed25519 -out key.pem; openssl pkey -in key.pem -pubout",
    )


def _serialization() -> Any:
    try:
        from cryptography.hazmat.primitives import serialization
    except ImportError as error:
        raise MissingExtraError("attest", "cryptography") from error
    return serialization


def _key_id(key: PublicKey) -> str:
    """sha256 of the key's SubjectPublicKeyInfo, as in-toto's tools name keys."""
    serialization = _serialization()
    der: bytes = key.public_bytes(
        serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    return hashlib.sha256(der).hexdigest()


def _sign(key: PrivateKey, message: bytes) -> bytes:
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import ec, ed25519

    if isinstance(key, ed25519.Ed25519PrivateKey):
        return key.sign(message)
    return key.sign(message, ec.ECDSA(hashes.SHA256()))


def _matches(key: PublicKey, signature: bytes, message: bytes) -> bool:
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import ec, ed25519

    try:
        if isinstance(key, ed25519.Ed25519PublicKey):
            key.verify(signature, message)
        else:
            key.verify(signature, message, ec.ECDSA(hashes.SHA256()))
    except InvalidSignature:
        return False
    return True
