"""SBOM and provenance: right by the standards' own tools, and one flipped byte is noticed."""

from __future__ import annotations

import base64
import hashlib
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from tests.wheel_maker import make_wheel
from tfenv.audit import attest, dsse, provenance, sbom
from tfenv.audit.compare import audit
from tfenv.cli.attest import command
from tfenv.errors import BadWheelError, FileFormatError, MissingExtraError
from tfenv.fetch import folder as portable
from tfenv.fetch.externals.record import External
from tfenv.lock import store
from tfenv.lock.model import Artifact, Lock, PythonLock, Value
from tfenv.wheel.inspect import inspect

serialization = pytest.importorskip("cryptography.hazmat.primitives.serialization")

LOCK = Lock(
    format=1,
    target="2.6.5-cpu",
    as_of="2022-06-01",
    toolchain={"bazel": Value(value="3.7.2", reason="r", source="s")},
    artifact=[
        Artifact(
            name="tensorflow",
            kind="source",
            version="2.6.5",
            urls=["https://example.org/v2.6.5.tar.gz"],
            source="s",
            sha256="ab" * 32,
        ),
        Artifact(name="ubuntu", kind="image", version="18.04", urls=[], source="s", digest="sha256:" + "cd" * 32),
        Artifact(
            name="nixpkgs",
            kind="nixpkgs",
            version="21.11",
            urls=["https://example.org/nixpkgs"],
            source="s",
            nar_hash="sha256-" + base64.b64encode(b"n" * 32).decode(),
            rev="e" * 40,
        ),
        Artifact(name="cudnn", kind="cudnn", version="7.0", urls=[], source="s", unpinned="behind a login"),
    ],
)  # fmt: skip


def keys(folder: Path, kind: str = "ed25519") -> tuple[Path, Path]:
    from cryptography.hazmat.primitives.asymmetric import ec, ed25519

    key = (
        ed25519.Ed25519PrivateKey.generate()
        if kind == "ed25519"
        else ec.generate_private_key(ec.SECP256R1())
    )
    pem = serialization.Encoding.PEM
    private = key.private_bytes(
        pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    public = key.public_key().public_bytes(pem, serialization.PublicFormat.SubjectPublicKeyInfo)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "key.pem").write_bytes(private)
    (folder / "key.pub").write_bytes(public)
    return folder / "key.pem", folder / "key.pub"


@pytest.fixture
def attested(tmp_path: Path) -> tuple[Path, Path, attest.Paths]:
    """A wheel, the public key, and its documents."""
    wheel = make_wheel(tmp_path, {"a.py": b"x = 1\n"}, version="2.6.5")
    private, public = keys(tmp_path)
    record(wheel, tmp_path)
    return wheel, public, attest.write(wheel, LOCK, private)


def record(wheel: Path, folder: Path) -> None:
    """What `tfenv build` leaves beside a wheel, and the journal of its run."""
    run = folder / "runs/20261130-1"
    run.mkdir(parents=True)
    lines = [{"time": f"2026-11-30T1{hour}:00:00+00:00"} for hour in (0, 1, 2)]
    (run / "events.jsonl").write_text("\n".join(json.dumps(line) for line in lines), "utf-8")
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    built = {"engine": "docker", "inputs": "i1", "source": "s1", "run": str(run)}
    content = {**built, "products": [{"name": wheel.name, "sha256": digest, "size": 1}]}
    (wheel.parent / "build.json").write_text(json.dumps(content), "utf-8")


@pytest.mark.parametrize("kind", ["ed25519", "ecdsa"])
def test_what_was_written_verifies(tmp_path: Path, kind: str) -> None:
    wheel = make_wheel(tmp_path, {})
    private, public = keys(tmp_path, kind)
    attest.write(wheel, LOCK, private)
    assert attest.verify(wheel, [public]) == []


@pytest.mark.parametrize("victim", ["wheel", "sbom", "provenance"])
def test_one_flipped_byte_anywhere_is_noticed(
    attested: tuple[Path, Path, attest.Paths], victim: str
) -> None:
    wheel, public, where = attested
    path = {"wheel": wheel, "sbom": where.sbom, "provenance": where.provenance}[victim]
    data = path.read_bytes()
    step = max(1, len(data) // 40)
    for at in range(0, len(data), step):
        path.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
        changed_meaning = victim != "provenance" or _meaning(path) != _meaning_of(data)
        if changed_meaning:
            assert attest.verify(wheel, [public]) != []
    path.write_bytes(data)
    assert attest.verify(wheel, [public]) == []


def _meaning(path: Path) -> object:
    return _meaning_of(path.read_bytes())


def _meaning_of(data: bytes) -> object:
    """What an envelope says; layout and key ids, which are hints, are not signed."""
    try:
        envelope = json.loads(data)
        return (
            base64.b64decode(envelope["payload"], validate=True),
            envelope["payloadType"],
            [base64.b64decode(s["sig"], validate=True) for s in envelope["signatures"]],
        )
    except (ValueError, KeyError, TypeError):
        return None


def test_another_key_does_not_verify(
    attested: tuple[Path, Path, attest.Paths], tmp_path: Path
) -> None:
    wheel, public, _ = attested
    _, other = keys(tmp_path / "other")
    assert [p.document for p in attest.verify(wheel, [other])] == ["provenance"]
    assert attest.verify(wheel, [other, public]) == []
    assert attest.verify(wheel, []) != []


def test_documents_of_another_wheel_do_not_verify(
    attested: tuple[Path, Path, attest.Paths], tmp_path: Path
) -> None:
    _, public, where = attested
    other = make_wheel(tmp_path / "other", {"a.py": b"x = 2\n"}, version="2.6.5")
    documents = attest.paths(other)
    documents.sbom.write_bytes(where.sbom.read_bytes())
    documents.provenance.write_bytes(where.provenance.read_bytes())
    told = {(p.document, p.detail) for p in attest.verify(other, [public])}
    assert ("sbom", "it is about another wheel") in told
    assert any(document == "provenance" and "another wheel" in text for document, text in told)


def test_the_sbom_is_deterministic_and_complete(attested: tuple[Path, Path, attest.Paths]) -> None:
    wheel, _, where = attested
    subject = attest.subject_of(wheel)
    text = where.sbom.read_text("utf-8")
    assert sbom.make(subject, LOCK) == text
    bom = json.loads(text)
    by_name = {c["name"]: c for c in bom["components"]}
    assert set(by_name) == {"tensorflow", "ubuntu", "nixpkgs", "cudnn"}
    assert by_name["ubuntu"]["hashes"][0]["content"] == "cd" * 32
    assert "hashes" not in by_name["nixpkgs"]
    assert {"name": "tfenv:unpinned", "value": "behind a login"} in by_name["cudnn"]["properties"]


def test_the_sbom_fits_cyclonedx_schema(attested: tuple[Path, Path, attest.Paths]) -> None:
    pytest.importorskip("cyclonedx")
    text = attested[2].sbom.read_text("utf-8")
    assert attest.schema_fault(text) == ""
    assert attest.schema_fault(text.replace('"version": 1\n', '"version": "x"\n')) != ""


def test_a_shipped_lock_gives_its_python_packages(tmp_path: Path) -> None:
    from tfenv.facts import pinned

    name = "tensorflow-cpu-2.6.5-cp37-linux_x86_64.txt"
    if pinned.shipped(name) is None:
        pytest.skip("this lock does not ship")
    lock = Lock(
        format=1, target="t", as_of="", toolchain={}, python=PythonLock(file=name, sha256="")
    )
    bom = json.loads(sbom.make(sbom.Subject("f.whl", "00" * 32, "n", "1"), lock))
    assert {"numpy", "protobuf", "tensorflow-cpu"} <= {c["name"] for c in bom["components"]}


def test_the_statement_is_read_by_in_totos_own_library(
    attested: tuple[Path, Path, attest.Paths],
) -> None:
    messages: Any = pytest.importorskip("in_toto_attestation.v1.statement_pb2")
    statements: Any = pytest.importorskip("in_toto_attestation.v1.statement")
    parser: Any = pytest.importorskip("google.protobuf.json_format")
    envelope = json.loads(attested[2].provenance.read_text("utf-8"))
    content = json.loads(base64.b64decode(envelope["payload"]))
    message = parser.ParseDict(content, messages.Statement())
    statements.Statement.copy_from_pb(message).validate()
    build = content["predicate"]["buildDefinition"]
    assert build["externalParameters"]["target"] == "2.6.5-cpu"
    digests = [d.get("digest", {}) for d in build["resolvedDependencies"]]
    assert {"sha256": "ab" * 32} in digests
    metadata = content["predicate"]["runDetails"]["metadata"]
    assert metadata == {
        "invocationId": "20261130-1",
        "startedOn": "2026-11-30T10:00:00+00:00",
        "finishedOn": "2026-11-30T12:00:00+00:00",
    }
    assert content["predicate"]["runDetails"]["builder"]["id"] == "urn:tfenv:builder:docker"
    assert build["internalParameters"]["inputs"] == "i1"


def test_the_signed_bytes_are_those_of_dsse() -> None:
    """The example of the DSSE specification."""
    assert dsse.pae("http://example.com/HelloWorld", b"hello world") == (
        b"DSSEv1 29 http://example.com/HelloWorld 11 hello world"
    )


@pytest.mark.parametrize(
    "text", [b"", b"{}", b"[]", b'{"payload":"!","payloadType":"","signatures":[]}', b"[" * 200_000]
)
def test_what_is_no_envelope_is_refused(text: bytes, tmp_path: Path) -> None:
    with pytest.raises(BadWheelError):
        dsse.open_sealed(text, [keys(tmp_path)[1]])


def test_a_key_that_is_none_is_refused(tmp_path: Path) -> None:
    (tmp_path / "key.pem").write_text("hello", "utf-8")
    for name in ("key.pem", "none"):
        with pytest.raises(FileFormatError):
            dsse.seal(b"{}", tmp_path / name)


def test_without_the_extra_it_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives", None)
    with pytest.raises(MissingExtraError) as caught:
        dsse.seal(b"{}", tmp_path / "key.pem")
    assert caught.value.exit_code == 6


def test_an_sbom_inside_the_wheel(tmp_path: Path) -> None:
    members = {"tensorflow/é.py": b"x = 1\n" * 9, "tensorflow/empty": b""}
    wheel = make_wheel(tmp_path, members, mode=0o755)
    private, public = keys(tmp_path)
    arguments = [
        str(wheel),
        "--lock",
        str(tmp_path / "lock.toml"),
        "--key",
        str(private),
        "--embed",
    ]
    (tmp_path / "lock.toml").write_text(store.dumps(LOCK), "utf-8")
    outs = [tmp_path / "out", tmp_path / "again"]
    for out in outs:
        done = CliRunner().invoke(command, [*arguments, "-o", str(out)])
        assert done.exit_code == 0, done.output
    one, two = (out / wheel.name for out in outs)
    assert one.read_bytes() == two.read_bytes()
    assert attest.verify(one, [public]) == []
    found = inspect(one)
    assert (found.record_ok, found.findings) == (True, [])
    with zipfile.ZipFile(one) as archive:
        assert archive.testzip() is None
        bom = json.loads(archive.read("tensorflow_cpu-1.0.0.dist-info/sboms/tfenv.cdx.json"))
    assert "hashes" not in bom["metadata"]["component"]
    result = audit(wheel, one)
    assert {(d.kind, d.path) for d in result.differences} == {
        ("member", "tensorflow_cpu-1.0.0.dist-info/sboms/tfenv.cdx.json"),
        ("text-line", "tensorflow_cpu-1.0.0.dist-info/RECORD"),
    }
    again = CliRunner().invoke(command, [*arguments, "-o", str(tmp_path)])
    assert isinstance(again.exception, FileFormatError)


def test_a_record_of_another_wheel_is_not_taken(tmp_path: Path) -> None:
    one = make_wheel(tmp_path / "one", {"a.py": b"1"})
    two = make_wheel(tmp_path / "two", {"a.py": b"2"})
    record(one, tmp_path)
    digest = hashlib.sha256(two.read_bytes()).hexdigest()
    assert attest.read_run(two, digest).engine == ""
    with pytest.raises(FileFormatError):
        attest.read_run(two, digest, one.parent)


def test_what_march_meant_is_in_the_provenance(tmp_path: Path) -> None:
    """From the file that build.sh leaves, if the build's record has its hash."""
    wheel = make_wheel(tmp_path, {})
    features = tmp_path / "cpu-features.txt"
    features.write_text("AVX\nSSE4.1\n", "utf-8")
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    products = [
        {"name": path.name, "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}
        for path in (wheel, features)
    ]
    built = {"engine": "host", "inputs": "i", "source": "s", "products": products}
    (tmp_path / "build.json").write_text(json.dumps(built), "utf-8")
    run = attest.read_run(wheel, digest)
    made = provenance.statement(attest.subject_of(wheel), LOCK, run, "{}", "x.cdx.json")
    inner = made["predicate"]["buildDefinition"]["internalParameters"]
    assert inner["cpuFeatures"] == ["AVX", "SSE4.1"]

    features.write_text("AVX512F\n", "utf-8")
    assert attest.read_run(wheel, digest).cpu_features == []


@pytest.mark.parametrize("text", ["", "{", "[1]", "[" * 200_000, '{"a":' * 200_000])
def test_an_sbom_that_is_none_breaks_the_rule_and_nothing_else(
    attested: tuple[Path, Path, attest.Paths], text: str
) -> None:
    wheel, public, where = attested
    where.sbom.write_text(text, "utf-8")
    assert attest.schema_fault(text)
    assert {problem.document for problem in attest.verify(wheel, [public])} >= {"sbom"}


def test_the_lock_that_the_build_left_names_bazels_archives(tmp_path: Path) -> None:
    """The build's own lock is taken if the record vouches for it and the target is the same."""
    wheel = make_wheel(tmp_path, {})
    private, _ = keys(tmp_path / "keys")
    external = External(
        name="com_google_absl",
        urls=["https://example.org/absl.tar.gz"],
        sha256="ef" * 32,
        rule="http_archive",
        defined_in="WORKSPACE:7",
    )
    beside = portable.write_lock(tmp_path, LOCK, [external])
    products = [
        {"name": path.name, "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}
        for path in (wheel, beside)
    ]
    built = {"engine": "host", "inputs": "i", "source": "s", "products": products}
    (tmp_path / "build.json").write_text(json.dumps(built), "utf-8")
    arguments = [str(wheel), "--key", str(private)]
    done = CliRunner().invoke(command, arguments)
    assert done.exit_code == 0, done.output
    where = attest.paths(wheel)
    named = {part["name"] for part in json.loads(where.sbom.read_text("utf-8"))["components"]}
    assert "com_google_absl" in named
    payload = json.loads(where.provenance.read_text("utf-8"))["payload"]
    materials = json.loads(base64.b64decode(payload))["predicate"]["buildDefinition"]
    assert {"sha256": "ef" * 32} in [
        d["digest"] for d in materials["resolvedDependencies"] if "digest" in d
    ]

    other = CliRunner().invoke(command, [*arguments, "--target", "1.15.5-cpu"])
    assert other.exit_code == 0
    assert "com_google_absl" not in where.sbom.read_text("utf-8")
    beside.write_text(beside.read_text("utf-8").replace("ef" * 32, "aa" * 32), "utf-8")
    assert CliRunner().invoke(command, arguments).exit_code == 2  # nobody vouches for it


def test_the_command(tmp_path: Path) -> None:
    wheel = make_wheel(tmp_path, {})
    private, public = keys(tmp_path)
    (tmp_path / "lock.toml").write_text(store.dumps(LOCK), "utf-8")
    made = CliRunner().invoke(
        command,
        [str(wheel), "--lock", str(tmp_path / "lock.toml"), "--key", str(private)],
    )  # fmt: skip
    assert made.exit_code == 0, made.output
    arguments = [str(wheel), "--verify", "--key", str(public), "--json"]
    good = CliRunner().invoke(command, arguments)
    assert (good.exit_code, json.loads(good.stdout)["ok"]) == (0, True)
    attest.paths(wheel).sbom.unlink()
    bad = CliRunner().invoke(command, arguments)
    assert bad.exit_code == 1
    assert json.loads(bad.stdout)["problems"][0]["document"] == "sbom"
