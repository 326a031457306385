"""A whole Sigstore on the loopback interface: identity provider, Fulcio, certificate log, Rekor.

Small, but real as far as a client can tell: a CA that signs a certificate for a token's subject, a
signed certificate timestamp in it, a log of one entry with its inclusion proof, signed checkpoint
and promise, and the trust configuration that names their keys. `sigstore` itself talks to it.
(RFC 6962; Fulcio's OID list; Rekor's API v1; C2SP signed notes.)
"""

from __future__ import annotations

import base64
import datetime
import hashlib
import json
import struct
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID, ObjectIdentifier

IDENTITY = "https://github.com/example/tf/.github/workflows/release.yml@refs/tags/v1"
ISSUER = "https://token.actions.githubusercontent.com"
REPOSITORY = "https://github.com/example/tf"
_FULCIO = "1.3.6.1.4.1.57264.1."
_SCT_LIST = ObjectIdentifier("1.3.6.1.4.1.11129.2.4.2")
_DER = serialization.Encoding.DER
_SPKI = serialization.PublicFormat.SubjectPublicKeyInfo


def b64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def tagged(tag: int, content: bytes) -> bytes:
    """One DER value of under 256 bytes."""
    length = bytes([len(content)])
    return bytes([tag]) + (b"\x81" if len(content) > 127 else b"") + length + content


def utf8(text: str) -> bytes:
    return tagged(0x0C, text.encode())


class Key:
    """A P-256 key of one of the services."""

    def __init__(self) -> None:
        self.private = ec.generate_private_key(ec.SECP256R1())
        self.der = self.private.public_key().public_bytes(_DER, _SPKI)
        self.id = hashlib.sha256(self.der).digest()

    def sign(self, data: bytes) -> bytes:
        return self.private.sign(data, ec.ECDSA(hashes.SHA256()))

    def log(self, url: str) -> dict[str, Any]:
        return {
            "baseUrl": url,
            "hashAlgorithm": "SHA2_256",
            "publicKey": {
                "rawBytes": b64(self.der),
                "keyDetails": "PKIX_ECDSA_P256_SHA_256",
                "validFor": {"start": "2020-01-01T00:00:00Z"},
            },
            "logId": {"keyId": b64(self.id)},
        }


class Toy:
    """The services' keys and what they answer."""

    def __init__(self) -> None:
        self.ca, self.ct, self.rekor = Key(), Key(), Key()
        self.url = ""
        self.identity, self.issuer = IDENTITY, ISSUER
        now = datetime.datetime.now(datetime.timezone.utc)
        self.start = now - datetime.timedelta(minutes=1)
        self.root = self._root()

    def _root(self) -> x509.Certificate:
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "toy root")])
        key = self.ca.private.public_key()
        usage = x509.KeyUsage(False, False, False, False, False, True, True, False, False)
        return (
            x509.CertificateBuilder(name, name, key, x509.random_serial_number())
            .not_valid_before(self.start)
            .not_valid_after(self.start + datetime.timedelta(days=1))
            .add_extension(x509.BasicConstraints(ca=True, path_length=1), critical=True)
            .add_extension(usage, critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
            .sign(self.ca.private, hashes.SHA256())
        )

    def token(self) -> str:
        """An OpenID Connect token, signed by nobody: clients only forward it."""
        now = int(time.time())
        claims = {
            "iss": self.issuer,
            "aud": "sigstore",
            "sub": "repo:example/tf:ref:refs/tags/v1",
            "job_workflow_ref": self.identity.removeprefix("https://github.com/"),
            "iat": now,
            "exp": now + 600,
        }
        parts = [json.dumps(part).encode() for part in ({"alg": "none"}, claims)]
        return ".".join(
            base64.urlsafe_b64encode(part).rstrip(b"=").decode() for part in (*parts, b"x")
        )

    def certificate(self, request: dict[str, str]) -> dict[str, Any]:
        """Fulcio: a certificate for the identity, with its timestamp of the certificate log."""
        pem = base64.b64decode(request["certificateSigningRequest"])
        key = x509.load_pem_x509_csr(pem).public_key()
        claims = {"8": self.issuer, "12": REPOSITORY, "13": "c0ffee", "14": "refs/tags/v1"}
        claims["18"] = self.identity
        usage = x509.KeyUsage(True, False, False, False, False, False, False, False, False)
        builder = (
            x509.CertificateBuilder()
            .subject_name(x509.Name([]))
            .issuer_name(self.root.subject)
            .public_key(key)
            .serial_number(x509.random_serial_number())
            .not_valid_before(self.start)
            .not_valid_after(self.start + datetime.timedelta(minutes=10))
            .add_extension(usage, critical=True)
            .add_extension(
                x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CODE_SIGNING]), critical=False
            )
            .add_extension(
                x509.AuthorityKeyIdentifier.from_issuer_public_key(self.ca.private.public_key()),
                critical=False,
            )
            .add_extension(
                x509.SubjectAlternativeName([x509.UniformResourceIdentifier(self.identity)]),
                critical=True,
            )
        )
        values = {number: utf8(text) for number, text in claims.items()}
        values["1"] = self.issuer.encode()  # the oldest one is no DER
        for number, value in values.items():
            extension = x509.UnrecognizedExtension(ObjectIdentifier(_FULCIO + number), value)
            builder = builder.add_extension(extension, critical=False)
        bare = builder.sign(self.ca.private, hashes.SHA256())
        stamps = self._timestamps(bare.tbs_certificate_bytes)
        leaf = builder.add_extension(
            x509.UnrecognizedExtension(_SCT_LIST, stamps), critical=False
        ).sign(self.ca.private, hashes.SHA256())
        chain = [c.public_bytes(serialization.Encoding.PEM).decode() for c in (leaf, self.root)]
        return {"signedCertificateEmbeddedSct": {"chain": {"certificates": chain}}}

    def _timestamps(self, tbs: bytes) -> bytes:
        """The list of one signed certificate timestamp over a precertificate."""
        now = int(time.time() * 1000)
        entry = self.ca.id + len(tbs).to_bytes(3, "big") + tbs
        signature = self.ct.sign(struct.pack(">BBQH", 0, 0, now, 1) + entry + b"\0\0")
        stamp = struct.pack(">B32sQH", 0, self.ct.id, now, 0)
        stamp += struct.pack(">BBH", 4, 3, len(signature)) + signature
        listed = struct.pack(">HH", len(stamp) + 2, len(stamp)) + stamp
        return tagged(0x04, listed)

    def entry(self, request: dict[str, Any]) -> dict[str, Any]:
        """Rekor: an entry for a DSSE envelope, in a log of its own."""
        content = request["spec"]["proposedContent"]
        envelope = json.loads(content["envelope"])
        payload = base64.b64decode(envelope["payload"])
        body = canonical(
            {
                "apiVersion": "0.0.1",
                "kind": "dsse",
                "spec": {
                    "envelopeHash": digest(content["envelope"].encode()),
                    "payloadHash": digest(payload),
                    "signatures": [
                        {"signature": s["sig"], "verifier": content["verifiers"][0]}
                        for s in envelope["signatures"]
                    ],
                },
            }
        )
        root = hashlib.sha256(b"\0" + body).digest()
        note = f"toy log\n1\n{b64(root)}\n"
        signed = b64(self.rekor.id[:4] + self.rekor.sign(note.encode()))
        promise = {
            "body": b64(body),
            "integratedTime": int(time.time()),
            "logID": self.rekor.id.hex(),
            "logIndex": 0,
        }
        proof = {
            "checkpoint": f"{note}\n\u2014 toy {signed}\n",
            "hashes": [],
            "logIndex": 0,
            "rootHash": root.hex(),
            "treeSize": 1,
        }
        verification = {
            "signedEntryTimestamp": b64(self.rekor.sign(canonical(promise))),
            "inclusionProof": proof,
        }
        return {root.hex(): {**promise, "verification": verification}}

    def trust_config(self) -> str:
        """What a client must know: the keys, and where the services are."""
        start = {"start": "2020-01-01T00:00:00Z"}
        service = {"url": self.url, "majorApiVersion": 1, "validFor": start, "operator": "toy"}
        authority = {
            "subject": {"organization": "toy", "commonName": "toy root"},
            "uri": self.url,
            "certChain": {"certificates": [{"rawBytes": b64(self.root.public_bytes(_DER))}]},
            "validFor": start,
        }
        return json.dumps(
            {
                "mediaType": "application/vnd.dev.sigstore.clienttrustconfig.v0.1+json",
                "trustedRoot": {
                    "mediaType": "application/vnd.dev.sigstore.trustedroot+json;version=0.1",
                    "tlogs": [self.rekor.log(self.url)],
                    "certificateAuthorities": [authority],
                    "ctlogs": [self.ct.log(self.url)],
                    "timestampAuthorities": [],
                },
                "signingConfig": {
                    "mediaType": "application/vnd.dev.sigstore.signingconfig.v0.2+json",
                    "caUrls": [service],
                    "oidcUrls": [service],
                    "rekorTlogUrls": [service],
                    "rekorTlogConfig": {"selector": "ANY"},
                    "tsaUrls": [],
                    "tsaConfig": {"selector": "ANY"},
                },
            }
        )

    def surroundings(self) -> dict[str, str]:
        """The variables of a CI job that may ask for a token."""
        return {
            "GITHUB_ACTIONS": "true",
            "ACTIONS_ID_TOKEN_REQUEST_TOKEN": "t",
            "ACTIONS_ID_TOKEN_REQUEST_URL": f"{self.url}/token",
        }


def canonical(document: object) -> bytes:
    return json.dumps(document, sort_keys=True, separators=(",", ":")).encode()


def digest(data: bytes) -> dict[str, str]:
    return {"algorithm": "sha256", "value": hashlib.sha256(data).hexdigest()}


@contextmanager
def serve(folder: Path) -> Iterator[tuple[Toy, Path]]:
    """The services while the block runs, and the file of their trust configuration."""
    toy = Toy()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer({"value": toy.token()} if self.path.startswith("/token") else None)

        def do_POST(self) -> None:
            data = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            calls = {"/api/v2/signingCert": toy.certificate, "/api/v1/log/entries": toy.entry}
            call = calls.get(self.path)
            self._answer(call(data) if call else None)

        def _answer(self, document: dict[str, Any] | None) -> None:
            body = json.dumps(document).encode()
            self.send_response(200 if document is not None else 404)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Stay silent."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        toy.url = f"http://127.0.0.1:{server.server_address[1]}"
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            folder.mkdir(parents=True, exist_ok=True)
            config = folder / "trust.json"
            config.write_text(toy.trust_config(), "utf-8")
            yield toy, config
        finally:
            server.shutdown()
