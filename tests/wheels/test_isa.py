"""What TensorFlow says about the processor, in the words of each generation of releases."""

from __future__ import annotations

import pytest

from tests.wheels.suite_parts import checks

OLD = (
    "I tensorflow/core/platform/cpu_feature_guard.cc:137] Your CPU supports instructions that this "
    "TensorFlow binary was not compiled to use: SSE4.1 SSE4.2 AVX AVX2 FMA\n"
)
ONEDNN = (
    "This TensorFlow binary is optimized with oneAPI Deep Neural Network Library (oneDNN) to use "
    "the following CPU instructions in performance-critical operations:  AVX2 FMA\n"
    "To enable them in other operations, rebuild TensorFlow with the appropriate compiler flags.\n"
)
NEW = (
    "This TensorFlow binary is optimized to use available CPU instructions in performance-critical "
    "operations.\nTo enable the following instructions: AVX2 AVX_VNNI FMA, in other operations, "
    "rebuild TensorFlow with the appropriate compiler flags.\n"
)


@pytest.mark.parametrize(
    ("text", "wording", "named"),
    [
        (OLD, "not compiled", {"SSE4.1", "SSE4.2", "AVX", "AVX2", "FMA"}),
        (ONEDNN, "oneDNN", {"AVX2", "FMA"}),
        (NEW, "rebuild", {"AVX2", "AVX_VNNI", "FMA"}),
    ],
    ids=["1.4", "2.6", "2.15"],
)
def test_each_wording_is_read(text: str, wording: str, named: set[str]) -> None:
    assert checks("isa/check_isa").guard(text) == (wording, named)


def test_silence_is_no_message() -> None:
    assert checks("isa/check_isa").guard("I am a log without instructions\n") is None


def test_the_signal_is_the_guests() -> None:
    outcome = checks("isa/check_isa").outcome
    said = "qemu: uncaught target signal 4 (Illegal instruction) - core dumped\n"
    assert outcome(-4, said) == "Illegal instruction (signal 4)"
    assert outcome(1, "ImportError") == "status 1"
