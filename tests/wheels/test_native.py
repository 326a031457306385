"""Small parts of the native checks."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from tests.wheels.suite_parts import checks, library


@pytest.mark.parametrize(
    ("version", "standard"), [("1.4.0", "c++11"), ("2.6.5", "c++14"), ("2.21.0", "c++17")]
)
def test_the_standard_where_no_fact_says_it(version: str, standard: str) -> None:
    assert library("programs").standard({"version": version}) == standard


def test_the_facts_come_first() -> None:
    expect = {"version": "2.6.5", "features": {"cpp-standard": "c++20"}}
    assert library("programs").standard(expect) == "c++20"


def test_only_lines_of_key_and_value_count() -> None:
    text = "2026-11-30 warning\nsum 36.0\nversion 2.6.5\nnothing\n"
    assert library("programs").words(text) == {"sum": "36.0", "version": "2.6.5"}


def test_a_compiler_that_fails_is_wrong_with_its_reason() -> None:
    command = [sys.executable, "-c", "print('x.cc:1: error: no such thing'); raise SystemExit(1)"]
    with pytest.raises(library("checks").Wrong, match="no such thing"):
        library("programs").build(command)


def test_the_linked_library_of_flags(tmp_path: Path) -> None:
    linked = checks("native/check_sdk").linked_library
    assert linked(["-L/a", "-l:libx.so.2"]) == "/a/libx.so.2"
    assert linked(["-L/a", "-lx"]) == "/a/libx.so"


def test_symbols_of_both_abis_are_told_apart() -> None:
    old = b"\0_ZN10tensorflow8GetErrorERKSs\0_ZNK10tensorflow3Env4NameERKSsi\0"
    new = b"\0_ZN10tensorflow8GetErrorERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE\0"
    spellings = checks("native/check_sdk").SPELLINGS
    counts = [[len(re.findall(spellings[abi], text)) for abi in (0, 1)] for text in (old, new)]
    assert counts == [[2, 0], [0, 1]]
