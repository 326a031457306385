"""What tfenv prints with --json, and the files that it reads and writes, fit their JSON Schemas."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
import tomli
from click.testing import CliRunner

import tfenv
from tests.unit.test_attest import keys
from tests.wheel_maker import compile_library, make_wheel
from tfenv import cli
from tfenv.build import record
from tfenv.report import schemas
from tfenv.verify.result import Check, Report, summarise

jsonschema = pytest.importorskip("jsonschema")

CPU = "2.6.5-cpu"


def faults(name: str, document: object) -> list[str]:
    schema = json.loads(schemas.path(name).read_text("utf-8"))
    found = jsonschema.Draft202012Validator(schema).iter_errors(document)
    return [f"{error.json_path}: {error.message}" for error in found]


def printed(*words: str) -> Any:
    """The document that a command prints; a failure's document too."""
    runner = CliRunner()
    group = cli.group
    result = runner.invoke(group, [*words, "--json"])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return json.loads(result.stdout)


@pytest.mark.parametrize("name", schemas.SCHEMAS)
def test_every_schema_is_one_and_is_shipped(name: str) -> None:
    schema = json.loads(schemas.render(name))
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schemas.path(name).read_text("utf-8") == schemas.render(name)


def test_no_schema_is_left_over() -> None:
    assert {path.name for path in schemas.FOLDER.iterdir()} == {
        schemas.path(name).name for name in schemas.SCHEMAS
    }


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("list", ("list", "--tf", "2.6.5")),
        ("show", ("show", CPU)),
        ("show", ("show", "1.4.0-cuda-windows")),
        ("show", ("show", "2.6.5-cuda")),
        ("why", ("why", CPU, "python")),
        ("why", ("why", "2.6.5-cuda", "cuda")),
        ("export-ci", ("export-ci", CPU, "--format", "github")),
    ],
)
def test_answers_about_targets(name: str, words: tuple[str, ...]) -> None:
    assert faults(name, printed(*words)) == []


def test_generated_files(tmp_path: Path) -> None:
    words = ("generate", CPU, "--format", "nix", "-o", str(tmp_path))
    assert faults("generate", printed(*words)) == []


def test_explanations(tmp_path: Path) -> None:
    for text in ("ImportError: libcudart.so.11.0: cannot open shared object file", "all is well"):
        (tmp_path / "log").write_text(text, "utf-8")
        assert faults("explain", printed("explain", str(tmp_path / "log"))) == []


def test_a_machine(tmp_path: Path) -> None:
    probe = tmp_path / "probe.json"
    assert faults("doctor", printed("doctor", CPU, "--save", str(probe))) == []
    assert faults("probe", json.loads(probe.read_text("utf-8"))) == []


def test_wheels(tmp_path: Path) -> None:
    source = "#include <string>\nstd::string f(int x) { return std::to_string(x); }"
    library = compile_library(tmp_path / "c", source)
    one = make_wheel(tmp_path / "a", {"tensorflow/a.so": library, "a.py": b"x = 1\n"})
    two = make_wheel(tmp_path / "b", {"tensorflow/a.so": library, "a.py": b"x = 2\n"})
    assert faults("inspect", printed("inspect", str(one))) == []
    draft = tmp_path / "changes.toml"
    for words in ((), ("--draft", str(draft)), ("--declare", str(draft)), ("--quick",)):
        assert faults("audit", printed("audit", str(one), str(two), *words)) == []
    assert faults("declaration", tomli.loads(draft.read_text("utf-8"))) == []


def test_attestations_and_the_gate(tmp_path: Path) -> None:
    wheel = make_wheel(tmp_path, {"tensorflow/a.py": b""}, version="2.6.5")
    private, public = keys(tmp_path)
    signing = ("attest", str(wheel), "--target", CPU, "--key", str(private))
    assert faults("attest", printed(*signing)) == []
    verifying = ("attest", str(wheel), "--verify", "--key", str(public))
    assert faults("attest-verify", printed(*verifying)) == []
    policy = tmp_path / "policy.toml"
    policy.write_text('format = 1\n[wheel]\nmax-glibc = "2.17"\n[attestation]\n', "utf-8")
    assert faults("release-policy", tomli.loads(policy.read_text("utf-8"))) == []
    gate = ("check-release", str(wheel), "--policy", str(policy))
    assert faults("check-release", printed(*gate)) == []


def test_reports_and_records(tmp_path: Path) -> None:
    checks = [Check(id="a", suite="s", status="passed", data={"error": 1e-7})]
    report = Report(
        target=CPU,
        wheel="w",
        environment={"python": "3.7"},
        summary=summarise(checks),
        not_exercised=["GPU"],
        checks=checks,
    )
    assert faults("verify", json.loads(msgspec.json.encode(report))) == []
    built = record.Record(target=CPU, inputs="1", engine="host", source="2", products=[])
    assert faults("build-record", json.loads(msgspec.json.encode(built))) == []


def test_shipped_locks() -> None:
    locks = sorted((Path(tfenv.__file__).parent / "locks" / "targets").glob("*.toml"))
    assert locks
    for path in locks[:: max(len(locks) // 20, 1)]:
        assert faults("lock", tomli.loads(path.read_text("utf-8"))) == []


def test_failures(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main(["show", "9.9.9-cpu", "--json"])
    assert ended.value.code == 2
    assert faults("error", json.loads(capsys.readouterr().out)) == []


@pytest.mark.parametrize("spoil", ["missing", "kind", "choice"])
def test_a_wrong_document_is_refused(tmp_path: Path, spoil: str) -> None:
    wheel = make_wheel(tmp_path, {"a.py": b""})
    document = copy.deepcopy(printed("audit", str(wheel), str(wheel)))
    if spoil == "missing":
        del document["verdict"]
    elif spoil == "kind":
        document["a"]["bytes"] = "many"
    else:
        document["verdict"] = "fine"
    assert faults("audit", document)
