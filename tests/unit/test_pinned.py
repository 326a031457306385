"""Python locks: written and read, one file per package."""

from __future__ import annotations

from importlib import resources

import pytest

from tfenv.errors import FileFormatError
from tfenv.facts.pinned import Pinned, PythonPins, parse, render, shipped, stem

ONE = Pinned("numpy", "1.19.5", "numpy-1.19.5-cp37-cp37m-manylinux2010_x86_64.whl", 14, "a" * 64)
SDIST = Pinned("wrapt", "1.12.1", "wrapt-1.12.1.tar.gz", 27488, "b" * 64)


def test_round_trip() -> None:
    pins = PythonPins({"requirement": "x==1", "as-of": "2022-06-01"}, (ONE, SDIST))
    assert parse(render(pins, "tfenv python lock 1"), "x") == pins
    assert pins.sdists == (SDIST,)
    assert pins.version_of("numpy") == "1.19.5"
    assert pins.version_of("absent") == ""


@pytest.mark.parametrize(
    "line",
    [
        "numpy==1.19.5",
        "numpy>=1.19.5 --hash=sha256:" + "a" * 64,
        "numpy==1.19.5 --hash=md5:" + "a" * 32,
        "-r other.txt",
        "--index-url https://example.invalid/simple",
        "numpy @ https://example.invalid/numpy.whl",
        "numpy==1.19.5 --hash=sha256:" + "A" * 64,
    ],
)
def test_a_line_that_is_not_pinned_by_hash_is_refused(line: str) -> None:
    with pytest.raises(FileFormatError):
        parse(line + "\n", "x")


def test_the_name_of_a_lock() -> None:
    assert stem("tensorflow-cpu==2.6.5", "3.7", "linux-x86_64") == (
        "tensorflow-cpu-2.6.5-cp37-linux_x86_64"
    )
    assert stem("tensorflow[and-cuda]==2.21.0", "3.13", "linux-x86_64") == (
        "tensorflow-and-cuda-2.21.0-cp313-linux_x86_64"
    )


def test_every_shipped_lock_reads_and_names_no_address() -> None:
    folder = resources.files("tfenv").joinpath("locks", "python")
    names = [item.name for item in folder.iterdir() if item.name.endswith(".txt")]
    assert len(names) >= 18
    for name in names:
        text = shipped(name)
        assert text is not None
        assert "://" not in text, name
        pins = parse(text, name)
        assert pins.pins, name
        assert all(pin.file and pin.size >= 0 for pin in pins.pins), name
        requirement = pins.header["requirement"]
        wanted = stem(requirement, pins.header["python"], pins.header["platform"])
        assert name in (f"{wanted}.txt", f"{wanted}.build.txt")


def test_no_lock_of_that_name() -> None:
    assert shipped("nothing.txt") is None
