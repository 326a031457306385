"""`tfenv check-release`: each rule of a policy holds for a good wheel and breaks for a bad one."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from xml.etree import ElementTree as ET

import msgspec
import pytest
import tomli
from click.testing import CliRunner, Result

from tests.unit.test_attest import LOCK, keys
from tests.unit.test_build_ci import program_of
from tests.wheel_maker import compile_library, fat_section, make_wheel
from tfenv.audit import attest, workflow
from tfenv.audit.policy import (
    AttestationRules,
    Policy,
    PublishedRules,
    VerifyRules,
    WheelRules,
)
from tfenv.cli.check_release import command
from tfenv.errors import FileFormatError

SOURCE = """
extern "C" const char simd[] = "AVX SSE, SSE2, SSE3, SSSE3, SSE4.1, SSE4.2";
asm(".section .nv_fatbin,\\"a\\"\\n.incbin \\"fat.bin\\"\\n.previous\\n");
"""
INFO = (
    "import collections\nbuild_info = collections.OrderedDict([('is_cuda_build', True), "
    "('cuda_version', '11.2')])\n"
)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    folder = tmp_path_factory.mktemp("gate")
    (folder / "fat.bin").write_bytes(fat_section({60: b"x", 70: b"y"}, {70: b"p"}))
    return compile_library(folder, SOURCE, "-nostdlib")


@pytest.fixture
def wheel(tmp_path: Path, library: bytes) -> Path:
    members = {
        "tensorflow/a.so": library,
        "tensorflow/python/platform/build_info.py": INFO.encode(),
    }
    return make_wheel(tmp_path, members, name="tensorflow", tag="cp37-cp37m-manylinux2014_x86_64")


def run(wheel: Path, policy: str, *arguments: str, **environment: str) -> Result:
    file = wheel.parent / "policy.toml"
    file.write_text(f"format = 1\n{policy}", "utf-8")
    return CliRunner(env=environment).invoke(
        command, [str(wheel), "--policy", str(file), *arguments]
    )


def broken(result: Result) -> set[str]:
    return {r["id"] for r in json.loads(result.stdout)["rules"] if r["status"] == "failed"}


@pytest.mark.parametrize(
    ("good", "bad", "rule"),
    [
        ("max-size-mib = 5", "max-size-mib = 0.001", "size"),
        ('tags = ["manylinux_2_17_x86_64"]', 'tags = ["manylinux1_x86_64"]', "tags"),
        ('max-glibc = "2.40"', "", ""),
        ('max-isa = "AVX"', 'max-isa = "SSE4.2"', "isa"),
        ('require-sass = ["sm_60", "sm_70"]', 'require-sass = ["sm_86"]', "sass"),
        ('require-ptx = ["compute_70"]', 'require-ptx = ["compute_90"]', "ptx"),
        ('forbid-sass = ["sm_35"]', 'forbid-sass = ["sm_60"]', "forbidden-sass"),
        ('forbid-libraries = ["libcudart.so.*"]', "", ""),
        ("", "cxx11-abi = true", "cxx11-abi"),
    ],
)
def test_each_rule_holds_and_breaks(wheel: Path, good: str, bad: str, rule: str) -> None:
    held = run(wheel, f"[wheel]\n{good}\n", "--json")
    assert (held.exit_code, broken(held)) == (0, set()), held.stdout
    if bad:
        failed = run(wheel, f"[wheel]\n{bad}\n", "--json")
        assert (failed.exit_code, broken(failed)) == (1, {rule})


def test_symbol_ceilings_and_forbidden_libraries(tmp_path: Path) -> None:
    source = '#include <string>\nstd::string f(int x) { return std::to_string(x) + "!"; }'
    data = compile_library(tmp_path, source)
    path = make_wheel(tmp_path, {"tensorflow/a.so": data})
    rules = '[wheel]\nmax-glibc = "2.1"\nmax-glibcxx = "3.4.1"\nforbid-libraries = ["libstdc++*"]\n'
    assert broken(run(path, rules, "--json")) == {"glibc", "glibcxx", "libraries"}


def test_findings_must_be_allowed_by_name(tmp_path: Path) -> None:
    path = make_wheel(tmp_path, {"tensorflow/x.orig": b""})
    assert broken(run(path, "", "--json")) == {"findings"}
    assert run(path, '[wheel]\nallow-findings = ["stray"]\n').exit_code == 0


def test_a_wrong_record_breaks_the_gate(tmp_path: Path) -> None:
    path = make_wheel(tmp_path, {"a.py": b"x"}, record=b"a.py,sha256=" + b"A" * 43 + b",1\n")
    assert broken(run(path, "", "--json")) == {"record"}


def test_a_wheel_that_cannot_be_read_breaks_the_gate(tmp_path: Path) -> None:
    path = tmp_path / "x-1-py3-none-any.whl"
    path.write_bytes(b"PK\5\6")
    assert broken(run(path, "", "--json")) == {"readable"}


def test_the_published_file(wheel: Path) -> None:
    import hashlib

    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    assert run(wheel, f'[published]\nsha256 = "{digest}"\n').exit_code == 0
    assert broken(run(wheel, f'[published]\nsha256 = "{"0" * 64}"\n', "--json")) == {
        "published-hash"
    }
    assert broken(run(wheel, '[published]\nlock = "2.6.5-cpu"\n', "--json")) == {"locked-hash"}


@pytest.mark.parametrize("victim", ["none", "wheel", "sbom", "provenance"])
def test_attestations_must_be_there_and_fit(wheel: Path, victim: str) -> None:
    pytest.importorskip("cryptography")
    private, _ = keys(wheel.parent)
    policy = '[attestation]\nkeys = ["key.pub"]\n'
    assert broken(run(wheel, policy, "--json")) == {"sbom", "provenance"}
    where = attest.write(wheel, LOCK, private)
    expected: set[str] = set()
    if victim == "wheel":  # another wheel under the same name, whose tag and name are off
        wheel.write_bytes(make_wheel(wheel.parent / "x", {}, name="tensorflow").read_bytes())
        expected = {"sbom", "provenance", "findings"}
    elif victim == "sbom":
        where.sbom.write_bytes(where.sbom.read_bytes().replace(b"2.6.5", b"2.6.4", 1))
        expected = {"provenance"}
    elif victim == "provenance":
        where.provenance.write_bytes(
            where.provenance.read_bytes().replace(b'"payload": "e', b'"payload": "f')
        )
        expected = {"provenance"}
    result = run(wheel, policy, "--json")
    assert broken(result) == expected
    assert result.exit_code == (1 if expected else 0)


def report(path: Path, wheel: str, *checks: tuple[str, str]) -> Path:
    rows = [{"id": name, "suite": "s", "status": status} for name, status in checks]
    content = {"schema": 1, "target": "t", "wheel": wheel, "environment": {}, "checks": rows}
    path.write_text(json.dumps(content), "utf-8")
    return path


def test_the_verification_must_have_passed(wheel: Path, tmp_path: Path) -> None:
    policy = '[verify]\nallow-skips = ["gpu.*"]\n'
    file = tmp_path / "report.json"
    passed, gpu = ("session.pruning", "passed"), ("gpu.matmul", "skipped")
    assert broken(run(wheel, policy, "--json")) == {"verified"}
    for checks, name, expected in [
        ([passed, gpu], wheel.name, set()),
        ([passed, ("session.run", "failed")], wheel.name, {"verified"}),
        ([passed, ("xla.fusion", "skipped")], wheel.name, {"verified"}),
        ([gpu], wheel.name, {"verified"}),
        ([passed], "other.whl", {"verified-wheel"}),
    ]:
        report(file, name, *checks)
        assert broken(run(wheel, policy, "--report", str(file), "--json")) == expected


def test_junit_annotations_and_text(wheel: Path, tmp_path: Path) -> None:
    file = tmp_path / "junit.xml"
    result = run(
        wheel, "[wheel]\nmax-size-mib = 0.001\n", "--junit", str(file), GITHUB_ACTIONS="true"
    )
    assert result.exit_code == 1
    assert f"::error title=size::{wheel.name}: " in result.stdout
    root = ET.fromstring(file.read_text("utf-8"))
    assert [
        case.get("name") for case in root.iter("testcase") if case.find("failure") is not None
    ] == ["size"]


def test_a_misspelt_rule_is_an_error_and_not_ignored(wheel: Path) -> None:
    result = run(wheel, '[wheel]\nmax-glib = "2.17"\n')
    assert isinstance(result.exception, FileFormatError)
    assert "max-glib" in result.exception.why


def test_the_workflow_is_written_and_pins_this_version(tmp_path: Path) -> None:
    from tfenv import __version__

    file = tmp_path / ".github/workflows/release-gate.yml"
    assert CliRunner().invoke(command, ["--workflow", str(file)]).exit_code == 0
    text = file.read_text("utf-8")
    assert text == workflow.render()
    assert f"tfenv[audit,attest]=={__version__}" in text
    assert "uses: " not in "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    assert "${{ inputs" not in text.partition("steps:")[2]  # no input reaches a shell's text


def test_the_workflow_by_actionlint(tmp_path: Path) -> None:
    program = program_of("actionlint")
    if program is None:
        pytest.skip("actionlint is not installed")
    file = tmp_path / ".github" / "workflows" / "release-gate.yml"
    file.parent.mkdir(parents=True)
    file.write_text(workflow.render(), "utf-8")
    done = subprocess.run([program, file], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    broken = workflow.render().replace("inputs.artifact", "inputs.artefact")
    file.write_text(broken, "utf-8")
    again = subprocess.run([program, file], capture_output=True, text=True, check=False)
    assert again.returncode == 1
    assert "artefact" in again.stdout


def test_every_key_of_a_policy_is_documented(checkout: Path) -> None:
    page = (checkout / "docs/reference/release-policy.md").read_text("utf-8")
    kinds = (WheelRules, AttestationRules, VerifyRules, PublishedRules)
    keys_of = {f.encode_name for kind in kinds for f in msgspec.structs.fields(kind)}
    assert {key for key in keys_of if f"`{key}`" not in page} == set()
    (example,) = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    msgspec.convert(tomli.loads(example), Policy)
