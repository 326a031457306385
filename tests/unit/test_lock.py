"""Locks: one hash per artifact, TOML in and out, and what ships is what the facts give."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner

from tfenv import facts, lock
from tfenv.cli import generate, show
from tfenv.errors import ConflictError, FileFormatError
from tfenv.facts import pinned, schema
from tfenv.lock import compiled, sizes
from tfenv.lock.model import Lock
from tfenv.target import catalogue, parse
from tfenv.toolchain import Choices, lookup
from tfenv.toolchain.python import supported_pythons

HEADLINES = ["1.15.5-cpu", "1.15.5-cuda", "2.6.5-cpu", "2.6.5-cuda", "2.21.0-cpu", "2.21.0-cuda"]


def made(name: str, **choices: str) -> Lock:
    return lock.for_target(parse(name), Choices(**choices))


@pytest.mark.parametrize("name", HEADLINES)
def test_the_shipped_lock_is_what_the_facts_give(name: str) -> None:
    shipped = lock.shipped(name)
    assert shipped == made(name), f"run `tfenv lock {name} --update`"


@pytest.mark.parametrize("name", HEADLINES)
def test_a_lock_survives_toml(name: str) -> None:
    locked = made(name)
    text = lock.dumps(locked)
    assert lock.loads(text, "x") == locked
    assert lock.dumps(lock.loads(text, "x")) == text


@pytest.mark.parametrize("name", HEADLINES)
def test_every_artifact_is_pinned_or_says_why_not(name: str) -> None:
    for artifact in made(name).artifact:
        marks = [artifact.sha256, artifact.digest, artifact.nar_hash, artifact.unpinned]
        assert sum(bool(mark) for mark in marks) == 1, artifact.name
        assert artifact.source, artifact.name
        assert artifact.urls or artifact.kind == "sdist" or artifact.unpinned, artifact.name


def test_the_headline_lock_holds_the_documented_files() -> None:
    found = {a.name: a for a in made("2.6.5-cuda").artifact}
    assert found["cuda"].version == "11.3.1"
    assert found["cuda"].urls[0].endswith("cuda_11.3.1_465.19.01_linux.run")
    assert found["cudnn"].version == "8.2.1.32"
    assert found["bazel"].version == found["bazel-installer"].version == "3.7.2"
    assert found["ubuntu:18.04"].digest.startswith("sha256:152dc042")
    assert found["nixpkgs"].version == "21.11"
    assert {n for n, a in found.items() if a.kind == "sdist"} == {"clang", "termcolor", "wrapt"}
    assert found["tensorflow"].sha256.startswith("305da428")


def test_what_a_format_pins_otherwise_has_its_reason() -> None:
    table = made("2.6.5-cuda").formats
    assert table["nix"]["cuda"].value == "11.2.1"
    assert table["nix"]["cudnn"].value == "8.1.1"
    assert "nixpkgs 21.11" in table["nix"]["cuda"].reason
    assert table["docker"]["python"].value == "3.7.17"
    for name in table:
        assert all(value.reason and value.source for value in table[name].values()), name


def test_source_distributions_have_locked_build_tools() -> None:
    python = made("2.6.5-cpu").python
    assert python is not None
    text = pinned.shipped(python.build_file)
    assert text is not None
    assert {pin.name for pin in pinned.parse(text, "x").pins} >= {"setuptools", "wheel"}


def test_the_known_size_counts_the_python_files() -> None:
    locked = made("2.6.5-cuda")
    assert sizes.known_bytes(locked) > 400_000_000
    assert "cuda 11.3.1" in sizes.unknown(locked)


def test_a_chosen_cuda_has_its_own_files() -> None:
    found = {a.name: a.version for a in made("2.6.5-cuda", cuda="11.2").artifact}
    assert found["cuda"].startswith("11.2.")
    assert found["cudnn"].startswith("8.1.")


def test_nvidia_image_by_digest_or_marked_as_unpinned() -> None:
    (image,) = (
        a for a in made("2.10.1-cuda", base="nvidia", cuda="11.8").artifact if a.kind == "image"
    )
    assert image.name == "nvidia/cuda:11.8.0-cudnn8-devel-ubuntu20.04"
    assert image.digest
    (image,) = (a for a in made("2.6.5-cuda", base="nvidia").artifact if a.kind == "image")
    assert image.name == "nvidia/cuda:11.3.1-cudnn8-devel-ubuntu18.04"
    assert image.unpinned


def test_nvidia_image_that_is_gone_is_refused() -> None:
    with pytest.raises(ConflictError) as caught:
        made("1.15.5-cuda", base="nvidia")
    assert "10.0" in caught.value.what
    assert "11.8.0" in caught.value.why


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("format = 1", "format 2"),
        ('sha256 = "305da42845ac584a42494e521c92a88ce92ee47d93022d4c0bb45180b5c19a8c"', "hash"),
    ],
)
def test_a_damaged_lock_is_refused(change: str, message: str) -> None:
    text = lock.dumps(made("2.6.5-cpu"))
    assert change in text
    new = "format = 2" if change.startswith("format") else ""
    with pytest.raises(FileFormatError) as caught:
        lock.loads(text.replace(change, new), "x.toml")
    assert message in f"{caught.value.what} {caught.value.why}"


@pytest.mark.parametrize("text", ["", "= 1", "format = 1", "format = 1\ntarget = 3\n"])
def test_what_is_no_lock_is_refused(text: str) -> None:
    with pytest.raises(FileFormatError):
        lock.loads(text, "x.toml")


def test_a_missing_lock_file(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError) as caught:
        lock.load(tmp_path / "none.toml")
    assert caught.value.exit_code == 2


def test_an_artifact_with_two_hashes_is_refused() -> None:
    locked = made("2.6.5-cpu")
    twice = msgspec.structs.replace(locked.artifact[0], unpinned="and yet")
    bad = msgspec.structs.replace(locked, artifact=[twice])
    with pytest.raises(FileFormatError):
        lock.loads(lock.dumps(bad), "x.toml")


# Small or pure Python: building them takes seconds, and no compiler or a C compiler at most.
SMALL_SDISTS = {
    "absl-py",
    "clang",
    "futures",
    "gast",
    "html5lib",
    "idna-ssl",
    "jax",
    "markdown",
    "opt-einsum",
    "termcolor",
    "wrapt",
}


def test_no_lock_for_linux_compiles_numpy() -> None:
    """A lock that resolves against too old a glibc takes source distributions of such packages."""
    folder = Path(pinned.__file__).parents[1] / "locks" / "python"
    found: dict[str, set[str]] = {}
    names = [path.name for path in folder.glob("*-linux_x86_64.txt")]
    assert len(names) > 400
    for name in names:
        for pin in pinned.parse(pinned.shipped(name) or "", name).sdists:
            found.setdefault(pin.name, set()).add(name)
    assert found.keys() <= SMALL_SDISTS, {k: sorted(v)[:3] for k, v in found.items()}


def test_build_tools_are_locked_exactly_where_something_is_built() -> None:
    folder = Path(pinned.__file__).parents[1] / "locks" / "python"
    for path in folder.glob("*.txt"):
        if path.name.endswith(".build.txt"):
            continue
        built = bool(pinned.parse(path.read_text("utf-8"), path.name).sdists)
        tools = path.with_name(path.name.removesuffix(".txt") + ".build.txt").is_file()
        assert built == tools, path.name


@pytest.mark.parametrize(
    ("name", "python", "sentence"),
    [
        ("2.11.0-cpu-macos-arm64", "", "grpcio 1.51.1 has no wheel here"),
        ("2.16.2-cpu-arm64", "", "needs a C compiler, and the HDF5 library with its headers"),
        ("2.19.1-cpu-arm64", "3.11", "needs a C++ compiler and CMake"),
        ("2.6.5-cpu", "", "wrapt 1.12.1 has no wheel here and is compiled when it is installed"),
    ],
)
def test_what_is_compiled_at_installation_is_said(name: str, python: str, sentence: str) -> None:
    said = compiled.sentences(made(name, python=python))
    assert any(sentence in line for line in said), said
    run = CliRunner().invoke(show.command, [name, *(["--python", python] if python else [])])
    assert sentence in run.output


def test_what_is_pure_python_needs_no_compiler() -> None:
    locked = made("2.6.5-cpu")
    sdists = {a.name for a in locked.artifact if a.kind == "sdist"}
    assert sdists == {"clang", "termcolor", "wrapt"}
    (only,) = compiled.compiled(locked)
    assert (only.name, only.optional) == ("wrapt", True)
    assert compiled.compiled(made("2.20.0-cpu")) == []


def test_generate_says_it_too(tmp_path: Path) -> None:
    arguments = ["2.11.0-cpu-macos-arm64", "--format", "script", "-o", str(tmp_path)]
    run = CliRunner().invoke(generate.command, arguments)
    assert "grpcio 1.51.1 has no wheel here" in run.output


def test_every_source_distribution_of_every_lock_was_read() -> None:
    known = {row.package for row in facts.rows(schema.SdistNeed)}
    folder = Path(facts.__file__).parents[1] / "locks" / "python"
    found = set()
    for path in folder.glob("*.txt"):
        if not path.name.endswith(".build.txt"):
            found |= {pin.name for pin in pinned.parse(path.read_text("utf-8"), path.name).sdists}
    assert found == known


def test_one_that_nobody_read_is_said_to_be_unknown() -> None:
    locked = made("2.6.5-cpu")
    artifacts = [msgspec.structs.replace(a, name="other") for a in locked.artifact]
    changed = msgspec.structs.replace(locked, artifact=artifacts)
    assert all("what is not known" in line for line in compiled.sentences(changed))


def test_a_size_that_a_registry_proves_is_counted() -> None:
    sizes_of = {a.name: a.size for a in made("1.15.5-cuda").artifact}
    assert sizes_of["bazel"] == 50_010_011
    assert "bazel 0.26.1" not in sizes.unknown(made("1.15.5-cuda"))
    run = CliRunner().invoke(show.command, ["1.15.5-cuda"])
    assert "at least 495." in run.output
    assert "size not known: tensorflow 1.15.5" in run.output


def test_an_md5_alone_is_named_and_pins_nothing() -> None:
    (cuda,) = (a for a in made("1.4.0-cuda-windows").artifact if a.kind == "cuda")
    assert cuda.sha256 == ""
    assert "md5 alone, ecba5d6c7d86ab5c3c3be97330ca85a0" in cuda.unpinned


def test_every_python_of_every_target_has_a_lock_and_no_lock_is_an_orphan() -> None:
    wanted = {
        f"{pinned.stem(lookup.requirement(target), python, target.platform)}.txt"
        for target in catalogue().values()
        for python in supported_pythons(target)[0]
    }
    folder = Path(facts.__file__).parents[1] / "locks" / "python"
    found = {path.name for path in folder.glob("*.txt") if not path.name.endswith(".build.txt")}
    assert wanted - found == set(), "tfenv lock TARGET --python X --update"
    assert found - wanted == set(), "nothing uses these"
    for name in found:
        header = pinned.parse((folder / name).read_text("utf-8"), name).header
        own = (header["requirement"], header["python"], header["platform"])
        assert f"{pinned.stem(*own)}.txt" == name
