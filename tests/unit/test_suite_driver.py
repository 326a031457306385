"""The suite's driver, on a small suite whose checks pass, fail, crash and hang."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tfenv.resources import suite

GOOD = """
from tfsuite.checks import check, require

@check("device.import", proves="The thing can be imported.")
def check_import():
    return "fine"
"""
MIXED = """
import os
import signal
import time

import pytest
from tfsuite.checks import KnownDefect, check, require

@check("session.a_passes", proves="It passes.")
def check_a():
    return "evidence", {"error": 1.5}

@check("session.b_crashes", proves="It crashes.")
def check_b():
    os.kill(os.getpid(), signal.SIGSEGV)

@check("session.c_fails", proves="It fails.")
def check_c():
    require(False, "what is wrong")

@check("session.d_exits", proves="It exits.")
def check_d():
    os._exit(3)

@check("session.e_hangs", proves="It hangs.", limit=1)
def check_e():
    time.sleep(60)

@check("session.f_old", proves="It is for old releases.", releases="<2.0")
def check_f():
    pass

@check("session.g_needs", proves="It needs a feature.", needs=["xla"])
def check_g():
    pass

@check("session.h_known", proves="It is known.")
def check_h():
    raise KnownDefect("sums are off", "project#1")

@check("session.i_cases", proves="It has cases.")
@pytest.mark.parametrize("case", ["one", "two"])
def check_i(case):
    require(case == "one", "two is wrong")

@check("session.j_last", proves="It is the last.")
def check_j():
    require("TF_XLA_FLAGS" not in os.environ, "a setting of the caller came through")
    require(os.environ["MINE"].endswith("/x"), "the group's setting is missing")
    require("NOT_FOR_THIS" not in os.environ, "a setting that the release lacks came through")
"""


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A suite with the real driver and other checks."""
    home = tmp_path / "suite"
    home.mkdir()
    for name in ("run.py", "conftest.py", "pytest.ini"):
        shutil.copy2(suite() / name, home)
    shutil.copytree(suite() / "lib", home / "lib", ignore=shutil.ignore_patterns("__pycache__"))
    return home


SLOW = """
from tfsuite.checks import check

@check("xla.slow", proves="It is slow.")
def check_slow():
    return "slow"
"""


def write(home: Path, first: str = GOOD, rest: str = MIXED) -> None:
    texts = {
        "device/check_import.py": first,
        "session/check_mixed.py": rest,
        "xla/check_slow.py": SLOW,
    }
    for name, text in texts.items():
        (home / name).parent.mkdir(exist_ok=True)
        (home / name).write_text(text, encoding="utf-8")
    groups = [
        {"name": "import", "files": ["device/check_import.py"]},
        {
            "name": "mixed",
            "files": ["session/check_mixed.py"],
            "env": {"MINE": "{scratch}/x", "NOT_FOR_THIS": "1"},
            "env_needs": {"NOT_FOR_THIS": "xla", "MINE": "unheard-of"},
        },
        {"name": "slow", "files": ["xla/check_slow.py"], "profile": "full"},
    ]
    (home / "groups.json").write_text(json.dumps({"groups": groups}), encoding="utf-8")


def run(home: Path, *arguments: str) -> tuple[int, dict[str, dict[str, Any]]]:
    expect, out = home / "expect.json", home / "out.jsonl"
    fields = {"schema": 1, "version": "2.6.5", "features": {"xla": "absent"}, "device": "auto"}
    expect.write_text(json.dumps(fields), encoding="utf-8")
    command = [sys.executable, "-I", str(home / "run.py"), "--expect", str(expect)]
    done = subprocess.run(
        [*command, "--out", str(out), *arguments],
        env={**os.environ, "TF_XLA_FLAGS": "--nonsense"},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert out.exists(), done.stderr
    header, *lines, footer = map(json.loads, out.read_text("utf-8").splitlines())
    assert header["kind"] == "header"
    assert header["schema"] == 1
    assert footer["kind"] == "footer"
    results = {line["id"]: line for line in lines}
    assert len(results) == len(lines)
    return done.returncode, results


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_a_crash_fails_one_check_and_the_rest_goes_on(small: Path) -> None:
    write(small)
    code, results = run(small)
    assert code == 1
    states = {name: result["status"] for name, result in results.items()}
    assert states == {
        "device.import": "passed",
        "session.a_passes": "passed",
        "session.b_crashes": "failed",
        "session.c_fails": "failed",
        "session.d_exits": "failed",
        "session.e_hangs": "failed",
        "session.f_old": "skipped",
        "session.g_needs": "skipped",
        "session.h_known": "known",
        "session.i_cases[one]": "passed",
        "session.i_cases[two]": "failed",
        "session.j_last": "passed",
    }
    assert "SIGSEGV" in results["session.b_crashes"]["detail"]
    assert "check_b" in results["session.b_crashes"]["detail"]
    assert results["session.c_fails"]["detail"] == "what is wrong"
    assert "status 3" in results["session.d_exits"]["detail"]
    assert "did not end in 1 s" in results["session.e_hangs"]["detail"]
    assert results["session.f_old"]["detail"] == "applies to TensorFlow <2.0"
    assert results["session.g_needs"]["detail"] == "TensorFlow 2.6.5 has no xla"
    assert results["session.h_known"]["detail"] == "sums are off (project#1)"
    assert results["session.a_passes"]["detail"] == "evidence"
    assert results["session.a_passes"]["data"] == {"error": 1.5}


def test_without_the_import_everything_is_skipped(small: Path) -> None:
    write(small, first=GOOD.replace('return "fine"', 'raise ImportError("libx.so: not found")'))
    code, results = run(small)
    assert code == 1
    first = results.pop("device.import")
    assert first["status"] == "failed"
    assert "libx.so: not found" in first["detail"]
    assert len(results) == 11
    assert {result["status"] for result in results.values()} == {"skipped"}


WRAPPED = (
    """Traceback (most recent call last):
  File "pywrap_tensorflow.py", line 58, in <module>
    from tensorflow.python.pywrap_tensorflow_internal import *
ImportError: libcublas.so.10.0: cannot open shared object file: No such file or directory

Failed to load the native TensorFlow runtime.
"""
    + "Advice that goes on and on. " * 40
)


def test_the_cause_of_a_failed_import_is_found_in_a_long_message(small: Path) -> None:
    write(small)
    shutil.copy2(suite() / "device" / "check_import.py", small / "device")
    package = small / "site" / "tensorflow"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(f"raise ImportError({WRAPPED!r})\n", encoding="utf-8")
    _, results = run(small, "--suite", "device", "--site", str(small / "site"))
    detail = results["device.import"]["detail"]
    assert detail.startswith("ImportError: libcublas.so.10.0: cannot open shared object file")
    assert len(detail) < 200


def test_a_file_that_cannot_be_read_fails_its_group(small: Path) -> None:
    write(small, rest="import nothing_of_that_name\n")
    code, results = run(small)
    assert code == 1
    assert results["group.mixed"]["status"] == "failed"
    assert "nothing_of_that_name" in results["group.mixed"]["detail"]


def test_only_what_was_asked_for(small: Path) -> None:
    write(small)
    code, results = run(small, "--suite", "device")
    assert code == 0
    assert list(results) == ["device.import"]


def test_the_profile_decides_and_the_header_says_what_is_left_out(small: Path) -> None:
    write(small)
    _, quick = run(small, "--suite", "xla")
    header = json.loads((small / "out.jsonl").read_text("utf-8").splitlines()[0])
    assert (list(quick), header["left_out"]) == (["device.import"], ["slow"])
    _, full = run(small, "--suite", "xla", "--profile", "full")
    header = json.loads((small / "out.jsonl").read_text("utf-8").splitlines()[0])
    assert (list(full), header["left_out"]) == (["device.import", "xla.slow"], [])


LARGE = """
from tfsuite.checks import check

@check("xla.large", proves="It takes memory.")
def check_large():
    return "%d" % len(bytearray(b"x") * (400 << 20))
"""


@pytest.mark.skipif(os.name != "posix", reason="no such record elsewhere")
def test_the_footer_says_what_the_largest_process_took(small: Path) -> None:
    def peak() -> int:
        run(small, "--suite", "xla", "--profile", "full")
        footer = json.loads((small / "out.jsonl").read_text("utf-8").splitlines()[-1])
        return int(footer["peak_bytes"])

    write(small)
    before = peak()
    (small / "xla" / "check_slow.py").write_text(LARGE, encoding="utf-8")
    assert 10 << 20 < before < 400 << 20 <= peak() < 800 << 20


def test_a_suite_that_does_not_exist_is_refused(small: Path) -> None:
    write(small)
    command = [sys.executable, "-I", str(small / "run.py"), "--list", "--suite", "nothing"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "there are device, session, xla" in done.stderr
