"""What the package index says of a wheel: its hash, and attestations as PEP 740 has them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.unit import index_server
from tests.wheel_maker import make_wheel
from tfenv.audit import gate, published
from tfenv.audit import policy as policies
from tfenv.errors import BadWheelError, DownloadError
from tfenv.files import sha256_file

pytest.importorskip("pypi_attestations", reason="needs the extra attest")
toy_sigstore = pytest.importorskip("tests.toy_sigstore", reason="needs the extra attest")

REPOSITORY = toy_sigstore.REPOSITORY
PUBLISHER = {"kind": "GitHub", "repository": "example/tf", "workflow": "release.yml"}
# An answer of the public index, and the file that it is about.
RECORDED = "gcb_attestation_test-0.0.0.tar.gz"
RECORDED_SHA256 = "461317362419124b6012e855423a9078d6de8aed3e74fa78cc74d669b23dc6cf"


class Published:
    """A wheel, the index that lists it, and its provenance."""

    def __init__(self, folder: Path, index: index_server.Index, document: dict[str, Any]) -> None:
        self.folder, self.index, self.document = folder, index, document
        (self.wheel,) = folder.glob("*.whl")

    def list(self, **more: Any) -> None:
        hashes = more.pop("hashes", {"sha256": sha256_file(self.wheel)})
        listed = index_server.entry(self.wheel.name, hashes=hashes, **more)
        self.index.pages["tensorflow-cpu"] = index_server.document([listed])

    def attest(self) -> None:
        self.index.files["prov"] = json.dumps(self.document).encode()
        self.list(provenance="../../files/prov")

    def rules(self, text: str = "") -> dict[str, tuple[str, str]]:
        policy = self.folder / "policy.toml"
        trust = 'trust-config = "toy/trust.json"\n'
        policy.write_text(
            f'format = 1\n[published]\nindex = "{self.index.address}"\n{trust}{text}', "utf-8"
        )
        result = gate.check(self.wheel, policies.load(policy), self.folder)
        return {rule.id: (rule.status, rule.detail) for rule in result.rules if "index" in rule.id}


@pytest.fixture(scope="module")
def signed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """A wheel and a provenance of it, signed as the trusted publisher that uploads it would."""
    from pypi_attestations import Attestation, Distribution
    from sigstore.models import ClientTrustConfig
    from sigstore.oidc import IdentityToken
    from sigstore.sign import SigningContext

    folder = tmp_path_factory.mktemp("published")
    wheel = make_wheel(folder, {"tensorflow/a.py": b"x = 1\n"}, version="2.6.5")
    with toy_sigstore.serve(folder / "toy") as (toy, config):
        trust = ClientTrustConfig.from_json(config.read_text("utf-8"))
        context = SigningContext.from_trust_config(trust)
        with context.signer(IdentityToken(toy.token())) as signer:
            made = Attestation.sign(signer, Distribution.from_file(wheel))
    bundle = {"publisher": PUBLISHER, "attestations": [made.model_dump(mode="json")]}
    return folder, {"version": 1, "attestation_bundles": [bundle]}


@pytest.fixture
def subject(signed: tuple[Path, dict[str, Any]]) -> Iterator[Published]:
    with index_server.serving() as index:
        yield Published(signed[0], index, json.loads(json.dumps(signed[1])))


def test_the_hash_of_the_index(subject: Published) -> None:
    subject.list()
    assert {key: rule[0] for key, rule in subject.rules().items()} == {
        "index-hash": "passed",
        "index-attestation": "passed",
    }
    subject.list(hashes={"sha256": "0" * 64})
    assert subject.rules()["index-hash"][0] == "failed"
    subject.index.pages["tensorflow-cpu"] = index_server.document([])
    assert "holds no" in subject.rules()["index-hash"][1]
    subject.index.pages["tensorflow-cpu"] = b'{"files": 1}'
    assert subject.rules()["index-hash"][0] == "failed"
    subject.index.pages.pop("tensorflow-cpu")
    assert subject.rules()["index-hash"][0] == "failed"


def test_an_attestation_that_holds(subject: Published) -> None:
    subject.attest()
    status, told = subject.rules(f'publisher = "{REPOSITORY}"')["index-attestation"]
    assert (status, told) == ("passed", f"published by {REPOSITORY}")


def test_a_publisher_makes_attestations_mandatory(subject: Published) -> None:
    wanted = f'publisher = "{REPOSITORY}"'
    subject.list()
    assert subject.rules(wanted)["index-attestation"][0] == "failed"
    subject.attest()
    other = subject.rules('publisher = "https://github.com/tensorflow/tensorflow"')
    assert other["index-attestation"][0] == "failed"
    subject.list(provenance="../../files/absent")
    assert "404" in subject.rules(wanted)["index-attestation"][1]
    subject.list(provenance="file:///etc/passwd")
    assert subject.rules(wanted)["index-hash"][0] == "failed"


@pytest.mark.parametrize("spoil", ["publisher", "signature", "statement", "empty", "form"])
def test_an_attestation_that_does_not_hold(subject: Published, spoil: str) -> None:
    (bundle,) = subject.document["attestation_bundles"]
    envelope = bundle["attestations"][0]["envelope"]
    if spoil == "publisher":  # the index says one thing, the certificate another
        bundle["publisher"] = {**PUBLISHER, "repository": "evil/tf"}
    elif spoil == "empty":
        bundle["attestations"] = []
    elif spoil == "form":
        subject.document["attestation_bundles"] = "none"
    else:
        data = envelope[spoil].replace("\n", "")
        envelope[spoil] = data[:20] + ("A" if data[20] != "A" else "B") + data[21:]
    subject.attest()
    assert subject.rules()["index-attestation"][0] == "failed"


def test_an_attestation_of_another_file(subject: Published) -> None:
    document = json.dumps(subject.document).encode()
    config = subject.folder / "toy" / "trust.json"
    digest = sha256_file(subject.wheel)
    assert published.publishers(document, subject.wheel.name, digest, config) == [REPOSITORY]
    for name, sha256 in ((subject.wheel.name, "0" * 64), ("other.whl", digest)):
        with pytest.raises(BadWheelError) as caught:
            published.publishers(document, name, sha256, config)
        assert "it is about" in caught.value.why


def test_a_provenance_of_the_public_index(checkout: Path) -> None:
    """Recorded; verified by the roots of the public Sigstore, as they came with its library."""
    folder = checkout / "tests" / "data" / "attestations"
    document = (folder / f"{RECORDED}.provenance").read_bytes()
    (name,) = published.publishers(document, RECORDED, RECORDED_SHA256)
    assert name.endswith("@developer.gserviceaccount.com")
    changed = document.replace(b"919436158236", b"919436158237")
    with pytest.raises(BadWheelError):
        published.publishers(changed, RECORDED, RECORDED_SHA256)
    with pytest.raises(BadWheelError):
        published.publishers(document, RECORDED, "0" * 64)


def test_an_index_that_is_not_there() -> None:
    with pytest.raises(DownloadError):
        published.find("http://127.0.0.1:9", "tensorflow-cpu", "x.whl")
    with pytest.raises(DownloadError):
        published.provenance("http://127.0.0.1:9", "http://127.0.0.1:9/x")
