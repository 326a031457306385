"""Signatures by Sigstore: made by its own client against a Sigstore on loopback, verified offline."""

from __future__ import annotations

import base64
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from tests.wheel_maker import make_wheel
from tfenv.audit import attest, gate, keyless
from tfenv.audit import policy as policies
from tfenv.cli import attest as command
from tfenv.errors import DownloadError, FileFormatError, MissingToolError

toy_sigstore = pytest.importorskip("tests.toy_sigstore", reason="needs the extra attest")
pytest.importorskip("sigstore", reason="needs the extra attest")

CI = ("GITHUB_ACTIONS", "ACTIONS_ID_TOKEN_REQUEST_TOKEN", "ACTIONS_ID_TOKEN_REQUEST_URL")


class Signed:
    """A copy of a wheel with its two documents, signed by Sigstore."""

    def __init__(self, original: Path, folder: Path) -> None:
        shutil.copytree(original, folder, dirs_exist_ok=True)
        (self.wheel,) = folder.glob("*.whl")
        self.config = folder / "toy" / "trust.json"
        self.provenance = attest.paths(self.wheel).provenance

    def problems(self, identity: str = "", issuer: str = "") -> list[attest.Problem]:
        who = identity or toy_sigstore.IDENTITY, issuer or toy_sigstore.ISSUER
        return attest.verify(self.wheel, [], signer=keyless.Signer(*who, self.config))


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("signed")
    wheel = make_wheel(folder, {"tensorflow/a.py": b"x = 1\n"}, version="2.6.5")
    with toy_sigstore.serve(folder / "toy") as (toy, config):
        words = [str(wheel), "--target", "2.6.5-cpu", "--trust-config", str(config)]
        done = CliRunner(env=toy.surroundings()).invoke(command.command, words)
        assert done.exit_code == 0, done.output
    return folder


@pytest.fixture
def signed(original: Path, tmp_path: Path) -> Signed:
    return Signed(original, tmp_path)


def test_signed_in_a_job_and_verified_without_a_network(signed: Signed) -> None:
    assert keyless.is_bundle(signed.provenance.read_bytes())
    assert signed.problems() == []
    words = [str(signed.wheel), "--verify", "--identity", toy_sigstore.IDENTITY]
    words += ["--issuer", toy_sigstore.ISSUER, "--trust-config", str(signed.config)]
    done = CliRunner().invoke(command.command, words)
    assert done.exit_code == 0, done.output


def test_somebody_else_is_refused(signed: Signed) -> None:
    (found,) = signed.problems(identity="https://github.com/evil/tf/.github/workflows/x.yml@y")
    assert "SANs do not match" in found.detail
    (found,) = signed.problems(issuer="https://accounts.example.org")
    assert "Issuer" in found.detail
    (found,) = attest.verify(signed.wheel, [])
    assert "nobody says whose signature" in found.detail


def test_another_instance_is_not_trusted(signed: Signed, tmp_path: Path) -> None:
    with toy_sigstore.serve(tmp_path / "other") as (_, config):
        signed.config = config
        assert signed.problems()
    public = keyless.Signer(toy_sigstore.IDENTITY, toy_sigstore.ISSUER)
    (found,) = attest.verify(signed.wheel, [], signer=public)
    assert found.document == "provenance"


def _payload(bundle: dict[str, Any]) -> None:
    envelope = bundle["dsseEnvelope"]
    statement = base64.b64decode(envelope["payload"]).replace(b"2.6.5-cpu", b"2.6.4-cpu")
    envelope["payload"] = base64.b64encode(statement).decode()


def _signature(bundle: dict[str, Any]) -> None:
    _flip(bundle["dsseEnvelope"]["signatures"][0], "sig")


def _promise(bundle: dict[str, Any]) -> None:
    _flip(_entry(bundle)["inclusionPromise"], "signedEntryTimestamp")


def _proof(bundle: dict[str, Any]) -> None:
    _flip(_entry(bundle)["inclusionProof"], "rootHash")


def _body(bundle: dict[str, Any]) -> None:
    _flip(_entry(bundle), "canonicalizedBody", at=30)


def _certificate(bundle: dict[str, Any]) -> None:
    _flip(bundle["verificationMaterial"]["certificate"], "rawBytes", at=-3)


def _without_log(bundle: dict[str, Any]) -> None:
    bundle["verificationMaterial"]["tlogEntries"] = []


def _entry(bundle: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = bundle["verificationMaterial"]["tlogEntries"][0]
    return found


def _flip(holder: dict[str, str], name: str, at: int = -1) -> None:
    data = bytearray(base64.b64decode(holder[name]))
    data[at] ^= 1
    holder[name] = base64.b64encode(data).decode()


@pytest.mark.parametrize(
    "spoil", [_payload, _signature, _promise, _proof, _body, _certificate, _without_log]
)
def test_one_changed_byte_is_refused(
    signed: Signed, spoil: Callable[[dict[str, Any]], None]
) -> None:
    bundle = json.loads(signed.provenance.read_bytes())
    spoil(bundle)
    signed.provenance.write_text(json.dumps(bundle), "utf-8")
    (found,) = signed.problems()
    assert found.document == "provenance"


def test_a_changed_wheel_or_sbom_is_refused(signed: Signed) -> None:
    sbom = attest.paths(signed.wheel).sbom
    sbom.write_text(sbom.read_text("utf-8") + " ", "utf-8")
    assert {p.document for p in signed.problems()} == {"provenance"}
    make_wheel(signed.wheel.parent, {"tensorflow/a.py": b"x = 2\n"}, version="2.6.5")
    assert {p.document for p in signed.problems()} == {"provenance", "sbom"}


def test_without_an_identity_there_is_no_signature(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in CI:
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(MissingToolError) as caught:
        keyless.seal(b"{}")
    assert "id-token: write" in caught.value.fix
    monkeypatch.setenv("GITHUB_ACTIONS", "true")  # a job that may not ask for a token
    with pytest.raises(DownloadError):
        keyless.seal(b"{}")
    with pytest.raises(FileFormatError):
        keyless.seal(b"{}", tmp_path / "missing.json")


def test_a_service_that_does_not_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with toy_sigstore.serve(tmp_path) as (toy, config):
        for name, value in toy.surroundings().items():
            monkeypatch.setenv(name, value)
        document = json.loads(config.read_text("utf-8"))
        document["signingConfig"]["caUrls"][0]["url"] = f"{toy.url}/nothing/"
        monkeypatch.setattr(toy, "certificate", lambda _: {})
        with pytest.raises(DownloadError) as caught:
            keyless.seal(b'{"_type":"x"}', config)
    assert caught.value.what == "Sigstore did not sign"


def test_options_that_do_not_go_together(tmp_path: Path) -> None:
    wheel = make_wheel(tmp_path, {"a.py": b""})
    for words in (["--verify"], ["--verify", "--identity", "x"], ["--key", "a", "--key", "b"]):
        assert CliRunner().invoke(command.command, [str(wheel), *words]).exit_code == 2


def test_the_gate_takes_a_policy_of_whom_to_trust(signed: Signed) -> None:
    who = f'identity = "{toy_sigstore.IDENTITY}"\nissuer = "{toy_sigstore.ISSUER}"\n'
    trust = f'trust-config = "{signed.config.relative_to(signed.wheel.parent)}"\n'
    policy = signed.wheel.parent / "policy.toml"
    for text, right in (
        (who + trust, True),
        (who, False),
        (who.replace("v1", "v2") + trust, False),
    ):
        policy.write_text(f"format = 1\n[attestation]\n{text}", "utf-8")
        result = gate.check(signed.wheel, policies.load(policy), policy.parent)
        (rule,) = [rule for rule in result.rules if rule.id == "provenance"]
        assert (rule.status == "passed") is right, rule.detail
