"""Target names parse, print back, and are suggested when they are wrong."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfenv.errors import UnknownTargetError
from tfenv.target import Target, catalogue, nearest, parse, within


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("2.6.5-cuda", Target("2.6.5", "cuda")),
        ("2.6.5-cpu", Target("2.6.5", "cpu")),
        ("1.15.5-cpu-macos-cc", Target("1.15.5", "cpu", "macos-x86_64", "cc")),
        ("1.15.5-cpu-macos-lite", Target("1.15.5", "cpu", "macos-x86_64", "lite")),
        ("1.4.0-cuda-windows", Target("1.4.0", "cuda", "windows-x86_64")),
        ("2.10.1-cuda-windows", Target("2.10.1", "cuda", "windows-x86_64")),
        ("2.6.0-cpu-macos", Target("2.6.0", "cpu", "macos-x86_64")),
        (" 2.21.0-CPU ", Target("2.21.0", "cpu")),
        ("2.16.2-cpu-macos-arm64", Target("2.16.2", "cpu", "macos-arm64")),
    ],
)
def test_a_name_parses(name: str, expected: Target) -> None:
    assert parse(name) == expected


def test_two_parts_mean_the_newest_patch() -> None:
    assert parse("2.6-cuda").name == "2.6.5-cuda"


def test_every_name_of_the_catalogue_parses_to_itself() -> None:
    for name, target in catalogue().items():
        assert target.name == name
    sample = list(catalogue())[::37]
    assert [parse(name).name for name in sample] == sample


@pytest.mark.parametrize("name", ["", "2.6.5", "cuda", "2.6.5-gpu", "2.6.5-cuda-amiga", "../../x"])
def test_what_is_no_name_is_refused_with_the_grammar(name: str) -> None:
    with pytest.raises(UnknownTargetError) as caught:
        parse(name)
    assert "<version>-<cpu|cuda>" in caught.value.why


def test_an_unknown_release_gets_the_nearest_names() -> None:
    with pytest.raises(UnknownTargetError) as caught:
        parse("2.6.6-cuda")
    assert caught.value.exit_code == 2
    assert "2.6.5-cuda" in caught.value.fix
    assert "no final release 2.6.6" in caught.value.why


def test_cuda_on_macos_says_why_not() -> None:
    with pytest.raises(UnknownTargetError) as caught:
        parse("2.6.0-cuda-macos")
    assert "CUDA on macOS" in caught.value.why


def test_the_nearest_name_keeps_the_shape() -> None:
    assert nearest("2.6.6-cuda")[0] == "2.6.5-cuda"
    assert nearest("2.6.6-cpu-windows")[0] == "2.6.5-cpu-windows"


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("2.6.5-gpu", "2.6.5-cuda"),
        ("tensorflow-gpu==2.10.1-win64", "2.10.1-cuda-windows"),
        ("TF-2.15.1-cpu-aarch64", "2.15.1-cpu-arm64"),
        ("v2.6.0-cpu-darwin", "2.6.0-cpu-macos"),
        ("1.15.5-cpu-osx-tflite", "1.15.5-cpu-macos-lite"),
        ("2.6.5-linux-cuda", "2.6.5-cuda"),
    ],
)
def test_the_words_that_people_use_lead_to_ours(text: str, meant: str) -> None:
    assert nearest(text)[0] == meant


def test_a_flake_attribute_has_no_dots() -> None:
    assert parse("2.6.5-cuda").nix_attribute == "tf-2_6_5-cuda"


def test_a_range_is_pep_440() -> None:
    assert within("2.15.0.post1", ">=2.15,<2.16")
    assert not within("2.6.5", ">=2.10")
    assert within("2.6.5", "")


@given(st.text(max_size=60))
def test_any_text_is_a_target_or_refused(text: str) -> None:
    try:
        found = parse(text).name
    except UnknownTargetError as error:
        found = ""
        lines = error.lines()
    assert found in catalogue() or all("\n" not in line for line in lines)
