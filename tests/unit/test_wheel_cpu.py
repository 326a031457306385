"""The verdict of an emulated import, and one real emulation of a program that needs AVX."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.wheel_maker import make_wheel
from tfenv.cli.inspect import command
from tfenv.errors import MissingToolError, UsageError
from tfenv.wheel import cpu

GUARD = (
    "F tensorflow/core/platform/cpu_feature_guard.cc:37] The TensorFlow library was compiled to "
    "use AVX instructions, but these aren't available on your machine.\n"
)


@pytest.mark.parametrize(
    ("code", "said", "outcome"),
    [
        (0, "", "runs"),
        (-signal.SIGILL, "qemu: uncaught target signal 4\n", "needs-newer"),
        (132, "", "needs-newer"),
        (-signal.SIGABRT, GUARD, "needs-newer"),
        (1, "ModuleNotFoundError: No module named 'tensorflow'\n", "unknown"),
        (-signal.SIGSEGV, "", "unknown"),
    ],
)
def test_what_an_end_means(code: int, said: str, outcome: str) -> None:
    assert cpu._judge("Nehalem", code, said).outcome == outcome


def test_the_guard_names_its_instructions() -> None:
    assert "AVX" in cpu._judge("Nehalem", -6, GUARD).detail


@pytest.mark.parametrize("model", ["", "-plugin x", "a;b", "../x"])
def test_a_model_is_a_name(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: "/bin/false")
    with pytest.raises(UsageError):
        cpu.prove(Path(sys.executable), model)


def test_without_the_emulator_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    with pytest.raises(MissingToolError):
        cpu.prove(Path(sys.executable), "Nehalem")


def test_the_option_needs_an_interpreter(tmp_path: Path) -> None:
    path = make_wheel(tmp_path, {})
    assert CliRunner().invoke(command, [str(path), "--prove-cpu", "Nehalem"]).exit_code == 2


@pytest.mark.optional
@pytest.mark.slow
def test_a_program_that_needs_avx_dies_on_nehalem_and_runs_on_haswell(tmp_path: Path) -> None:
    """The stand-in for Python runs AVX code when it is told to import anything."""
    if not shutil.which("qemu-x86_64") or not shutil.which("gcc"):
        pytest.skip("needs qemu-user and gcc")
    source = "#include <immintrin.h>\nint main(int n, char **v) { __m256 x = _mm256_set1_ps(n); x = _mm256_mul_ps(x, x); return _mm256_cvtss_f32(x) < 0; }"
    (tmp_path / "p.c").write_text(source, "utf-8")
    subprocess.run(["gcc", "-mavx", "-O0", "-o", "p", "p.c"], cwd=tmp_path, check=True)
    assert cpu.prove(tmp_path / "p", "Nehalem").outcome == "needs-newer"
    assert cpu.prove(tmp_path / "p", "Haswell").outcome == "runs"
