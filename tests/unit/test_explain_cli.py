"""`tfenv explain` as a program: documents, exit codes, the fix for a target, new cases."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import tomli
from click.testing import CliRunner

from tfenv.cli.explain import command
from tfenv.diagnose.explain import explain_text

BAZEL = (
    "$ ./configure\nYou have bazel 5.1.0 installed.\n"
    "Please downgrade your bazel installation to version 3.99.0 or lower to build TensorFlow!\n"
)
SECRETS = """\
jane@bigcorp-ws17:~/secret-project$ bazel build //tensorflow:x
INFO: Reading rc options for 'build' from /home/jane/secret/.bazelrc
INFO: token=ghp_0123456789abcdefghijABCDEFGHIJ012345 from https://jane:hunter2@git.bigcorp.example/repo
INFO: mail jane.roe@bigcorp.example, AWS_SECRET_ACCESS_KEY=abcd/efgh+1234, host 10.20.30.40
INFO: C:\\Users\\Jane Roe\\AppData, password: "correct horse", Authorization: Bearer abc.def
I tensorflow/x.cc:1] retrieving CUDA diagnostic information for host: bigcorp-ws17
g++: fatal error: Killed signal terminated program cc1plus
"""


def _run(*arguments: str, **options: Any) -> tuple[int, str]:
    done = CliRunner().invoke(command, list(arguments), **options)
    return done.exit_code, done.output


def _log(tmp_path: Path, text: str) -> str:
    path = tmp_path / "build.log"
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_the_document(tmp_path: Path) -> None:
    code, output = _run(_log(tmp_path, BAZEL), "--json")
    answer = json.loads(output)
    assert code == 1
    assert answer["root_cause"] == "bazel-too-new"
    assert answer["confidence"] == "high"
    assert answer["evidence"]["line"] == 3
    assert answer["evidence"]["text"].startswith("Please downgrade")
    assert isinstance(answer["fix"], list)
    assert answer["source"]
    assert answer["undecided"] == []
    assert answer["others"] == []


def test_a_target_gives_exact_pins(tmp_path: Path) -> None:
    _, output = _run(_log(tmp_path, BAZEL), "--json", "--target", "2.6.5-cuda")
    assert any("3.7.2" in step for step in json.loads(output)["fix"])


@pytest.mark.parametrize(
    ("line", "target", "pin"),
    [
        ("TypeError: Descriptors cannot not be created directly.", "2.6.5-cpu", "protobuf==3.19.4"),
        ("AttributeError: module 'numpy' has no attribute 'object'.", "2.6.5-cpu", "numpy==1.19.5"),
        (
            "cannot import name 'dtensor' from 'tensorflow.compat.v2.experimental'",
            "2.6.5-cpu",
            "keras==2.6.0",
        ),
        ("x.cc:3:1: error: 'uint64_t' does not name a type", "2.6.5-cpu", "GCC 7"),
        (
            "ImportError: libcudart.so.11.0: cannot open shared object file: No such file",
            "2.6.5-cuda",
            "CUDA 11.",
        ),
    ],
)
def test_the_fix_is_for_the_target(line: str, target: str, pin: str) -> None:
    from tfenv.target import parse

    assert any(pin in step for step in explain_text(line, parse(target)).fix)


def test_the_text_for_people(tmp_path: Path) -> None:
    code, output = _run(_log(tmp_path, BAZEL))
    assert code == 1
    assert "bazel-too-new" in output
    assert "line 3" in output
    assert "fix:" in output


def test_standard_input_and_a_good_log() -> None:
    code, output = _run(
        "-", "--json", input="INFO: Build completed successfully, 3 total actions\n"
    )
    assert code == 0
    assert json.loads(output)["root_cause"] == "none"


def test_an_unknown_failure_still_helps(tmp_path: Path) -> None:
    text = "INFO: Found 1 target...\ntensorflow/core/x.cc:12:7: error: no matching function for call to 'f(int)'\n"
    code, output = _run(_log(tmp_path, text), "--json")
    answer = json.loads(output)
    assert code == 1
    assert answer["root_cause"] == "unknown"
    assert answer["evidence"]["line"] == 2
    assert "tensorflow/core/x.cc" in answer["cause"]


def test_misleading_messages_are_decoded() -> None:
    assert (
        "illegal"
        in explain_text("ImportError: DLL load failed with error code -1073741795").why.lower()
    )
    text = "Current Bazel version is 0.10.0, expected at least 0.5.4"
    assert "newer" in explain_text(text).why


def test_undecided_names_the_deciding_fact() -> None:
    text = (
        "ImportError: DLL load failed: A dynamic link library (DLL) initialization routine failed."
    )
    answer = explain_text(text)
    assert [u.root_cause for u in answer.undecided] == ["cpu-lacks-avx"]
    assert "AVX" in answer.undecided[0].decided_by


def test_symptoms_are_named_as_such() -> None:
    text = (
        "E x] Loaded runtime CuDNN library: 7.5.0 but source was compiled with: 7.6.5.\n"
        "E x] Could not create cudnn handle: CUDNN_STATUS_INTERNAL_ERROR\n"
    )
    answer = explain_text(text)
    assert answer.root_cause == "cudnn-runtime-too-old"
    assert [(o.root_cause, o.relation) for o in answer.others] == [
        ("cudnn-init-no-memory", "consequence")
    ]


def test_chinese(tmp_path: Path) -> None:
    _, output = _run(_log(tmp_path, BAZEL), env={"TFENV_LANG": "zh_CN.UTF-8"})
    assert "原因" in output
    assert "解决" in output


def test_a_language_without_translation_is_english(tmp_path: Path) -> None:
    _, output = _run(_log(tmp_path, BAZEL), env={"TFENV_LANG": "tlh"})
    assert "fix:" in output


def test_hostile_text_cannot_paint_the_terminal(tmp_path: Path) -> None:
    text = (
        "nvcc fatal   : Unsupported gpu architecture 'compute_86' \x1b]0;owned\x07\x1b[2J\x9b31m\n"
    )
    _, output = _run(_log(tmp_path, text))
    assert "\x1b]" not in output
    assert "\x9b" not in output
    _, output = _run(_log(tmp_path, "ImportError: DLL load failed: \u202e gnihtemos\n"), "--json")
    assert "\u202e" not in json.loads(output)["root_cause"]


def test_captures_do_not_smuggle_markup_into_the_fix() -> None:
    text = "manifest for nvidia/cuda:1$(reboot)`x`;rm not found: manifest unknown"
    for step in explain_text(text).fix:
        assert "$(" not in step
        assert "`x`" not in step


def test_a_new_case_names_nobody_and_is_a_test(tmp_path: Path) -> None:
    case = tmp_path / "case.toml"
    code, _ = _run(_log(tmp_path, SECRETS), "--new-case", str(case))
    assert code == 1
    text = case.read_text("utf-8")
    for secret in (
        "jane",
        "Jane",
        "bigcorp",
        "ghp_",
        "hunter2",
        "abcd/efgh",
        "correct horse",
        "abc.def",
        "10.20.30.40",
    ):
        assert secret not in text.replace("user@example.org", ""), secret
    made = tomli.loads(text)
    assert made["expect"] == "oom-compiler"
    assert explain_text("\n".join(made["log"])).root_cause == "oom-compiler"


def test_a_new_case_of_a_long_log_is_short(tmp_path: Path) -> None:
    noise = "".join(f"INFO: From Compiling tensorflow/core/kernels/a{n}.cc:\n" for n in range(5000))
    case = tmp_path / "case.toml"
    _run(_log(tmp_path, noise + BAZEL + noise), "--new-case", str(case))
    made = tomli.loads(case.read_text("utf-8"))
    assert len(made["log"]) < 400
    assert explain_text("\n".join(made["log"])).root_cause == "bazel-too-new"
