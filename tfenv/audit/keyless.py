"""Sign and verify by Sigstore: a certificate for an identity of a few minutes, and a public log.

Signing asks the surroundings for an OpenID Connect token (a CI service gives one), Fulcio for a
certificate and Rekor for an entry; it needs the network. Verification needs none: the roots of
trust are those that came with sigstore, or a file for an instance of one's own.
"""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from tfenv.audit.dsse import PAYLOAD_TYPE
from tfenv.errors import (
    BadWheelError,
    DownloadError,
    FileFormatError,
    MissingExtraError,
    MissingToolError,
    one_line,
)

if TYPE_CHECKING:
    from sigstore.models import ClientTrustConfig, TrustedRoot

_BUNDLE = "application/vnd.dev.sigstore.bundle"


class Signer(NamedTuple):
    """Who must have signed: the certificate's subject, and the provider that vouches for it.

    Attributes:
        identity: an address of a workflow or of e-mail.
        issuer: the address of the OpenID Connect provider.
        config: sigstore's client trust configuration, for an instance of one's own.
    """

    identity: str
    issuer: str
    config: Path | None = None


def is_bundle(text: bytes) -> bool:
    """Whether an envelope is a Sigstore bundle and no bare DSSE envelope."""
    try:
        document = msgspec.json.decode(text)
    except (msgspec.MsgspecError, RecursionError):
        return False
    return isinstance(document, dict) and str(document.get("mediaType")).startswith(_BUNDLE)


def seal(payload: bytes, config: Path | None = None) -> str:
    """Sign a statement with the identity that the surroundings give; a bundle as text.

    Raises:
        MissingExtraError: sigstore is not installed.
        MissingToolError: there is no identity here.
        DownloadError: a service of Sigstore did not do its part.
    """
    try:
        from sigstore import dsse, oidc, sign
        from sigstore.models import ClientTrustConfig
    except ImportError as error:
        raise MissingExtraError("attest", "sigstore") from error
    trust = _config(config) if config else None
    try:
        raw = oidc.detect_credential()
        if raw is None:
            raise MissingToolError(
                "there is no identity to sign with",
                "no CI service gives an OpenID Connect token here",
                "run it in a CI job with the permission id-token: write, or give --key FILE",
            )
        context = sign.SigningContext.from_trust_config(trust or ClientTrustConfig.production())
        with context.signer(oidc.IdentityToken(raw)) as signer:
            bundle = signer.sign_dsse(dsse.Statement(payload))
    except MissingToolError:
        raise
    except Exception as error:  # several libraries' own kinds, some of them private
        raise DownloadError(
            "Sigstore did not sign",
            one_line(str(error) or type(error).__name__)[:200],
            "try again, or give --key FILE",
        ) from error
    return msgspec.json.format(bundle.to_json().encode(), indent=2).decode() + "\n"


def open_bundle(text: bytes, who: Signer) -> dict[str, Any]:
    """The statement of a bundle that `who` has signed. Offline.

    Raises:
        BadWheelError: it is damaged, is not in the log, or somebody else has signed it.
        MissingExtraError: sigstore is not installed.
        FileFormatError: the trust configuration cannot be read.
    """
    try:
        from sigstore.errors import Error
        from sigstore.models import Bundle
        from sigstore.verify import Verifier, policy
    except ImportError as error:
        raise MissingExtraError("attest", "sigstore") from error
    verifier = Verifier(trusted_root=trusted_root(who.config))
    wanted = policy.Identity(identity=who.identity, issuer=who.issuer)
    try:
        kind, payload = verifier.verify_dsse(Bundle.from_json(text), wanted)
        statement = msgspec.json.decode(payload)
    except (Error, ValueError, TypeError, KeyError) as error:
        raise _bad(one_line(str(error))[:200]) from error
    if kind != PAYLOAD_TYPE or not isinstance(statement, dict):
        raise _bad("its payload is no in-toto statement")
    return statement


def trusted_root(config: Path | None) -> TrustedRoot:
    """The roots of trust: of the public instance as they came with sigstore, or of a file."""
    from sigstore.models import ClientTrustConfig

    if config is not None:
        return _config(config).trusted_root
    logging.getLogger("sigstore").setLevel(logging.ERROR)  # it warns that it stays offline
    return ClientTrustConfig.production(offline=True).trusted_root


def _config(path: Path) -> ClientTrustConfig:
    from sigstore.errors import Error
    from sigstore.models import ClientTrustConfig

    try:
        return ClientTrustConfig.from_json(path.read_text("utf-8"))
    except (OSError, ValueError, Error) as error:
        raise FileFormatError(
            f"the trust configuration {path.name} cannot be read",
            one_line(str(error))[:200],
            "give the client trust configuration of your Sigstore instance, or leave it out",
        ) from error


def _bad(why: str) -> BadWheelError:
    return BadWheelError(
        "the provenance is not signed by whom it should be",
        why,
        "get the files again from who signed them, or sign them anew",
    )
