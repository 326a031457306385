"""The committed environments: what the generator writes, and nothing that the lock does not say."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tfenv import facts, lock, render
from tfenv.facts import schema
from tfenv.files import sha256_file
from tfenv.lock import store
from tfenv.lock.model import Lock
from tfenv.render import mirrors, plan
from tfenv.target import parse

ROOT = Path(__file__).resolve().parents[2]
ENVIRONMENTS = ROOT / "environments"
TARGETS = sorted(path.name for path in ENVIRONMENTS.iterdir() if path.is_dir())
HASH = re.compile(r"(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])")
URL = re.compile(r"https?://[^\s'\"\\),]+")
# Addresses that are no downloads of the lock: settings, and what a text tells a person.
OTHER_URLS = ("https://github.com/\n", "https://github.com/NixOS/nixpkgs")


def generated(target: str) -> dict[str, str]:
    """What the generator writes for a target, by path."""
    ready = plan.make(lock.for_target(parse(target)), mirrors.Mirrors())
    _, files = render.render_all(ready, render.PURPOSES)
    return {file.path: file.text for file in files}


def test_there_are_twelve_headline_targets() -> None:
    assert len(TARGETS) >= 12


@pytest.mark.parametrize("target", TARGETS)
def test_committed_is_generated(target: str) -> None:
    folder = ENVIRONMENTS / target
    committed = {
        path.relative_to(folder).as_posix(): path.read_bytes().decode()
        for path in folder.rglob("*")
        if path.is_file()
    }
    new = generated(target)
    assert committed.keys() == new.keys()
    wrong = [path for path, text in new.items() if committed[path] != text]
    assert wrong == [], f"run: tfenv generate {target}"


# One truth: each file is read and compared with the lock beside it. ---------------------------------


def problems(folder: Path) -> list[str]:
    """Everything in a target's files that its lock does not say."""
    locked = store.load(folder / "lock.toml")
    return [
        *requirements(folder, locked),
        *hashes(folder, locked),
        *addresses(folder, locked),
        *dockerfiles(folder, locked),
        *definition(folder, locked),
        *flake(folder, locked),
        *conda(folder, locked),
        *differences(locked),
    ]


def requirements(folder: Path, locked: Lock) -> Iterator[str]:
    """Every format has the one Python lock."""
    assert locked.python is not None
    for path in folder.rglob("requirements.txt"):
        if sha256_file(path) != locked.python.sha256:
            yield f"{path.relative_to(folder)} is not the locked file"
    for path in folder.rglob("requirements.tools.txt"):
        if sha256_file(path) != locked.python.build_sha256:
            yield f"{path.relative_to(folder)} is not the locked file"


def rendered(folder: Path) -> Iterator[tuple[str, str]]:
    """The files that are not the lock, nor a list of Python packages."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.name != "lock.toml" and "requirements" not in path.name:
            yield path.relative_to(folder).as_posix(), path.read_text("utf-8")


def hashes(folder: Path, locked: Lock) -> Iterator[str]:
    """No sha256 that is neither in the lock nor, for CMake's own downloads, in the facts."""
    known = {a.sha256 for a in locked.artifact} | {
        a.digest.removeprefix("sha256:") for a in locked.artifact
    }
    known |= {row.sha256 for row in facts.rows(schema.CmakeExternal)}
    for name, text in rendered(folder):
        if name.endswith("/build.sh"):
            text = re.sub(r"^step \w+ .*$", "", text, flags=re.MULTILINE)  # noqa: PLW2901
        for found in set(HASH.findall(text)) - known:
            yield f"{name}: {found} is in no lock"


def addresses(folder: Path, locked: Lock) -> Iterator[str]:
    """No download from a place that the lock does not name."""
    known = {url for a in locked.artifact for url in a.urls}
    known |= {url for row in facts.rows(schema.CmakeExternal) for url in row.urls}
    for name, text in rendered(folder):
        if name.endswith(("Dockerfile", "Dockerfile.run", "build-host.sh", "build.ps1", ".def")):
            for found in set(URL.findall(text)) - known - {"https://github.com/"}:
                yield f"{name}: {found} is in no lock"


def dockerfiles(folder: Path, locked: Lock) -> Iterator[str]:
    """The base image by digest; Bazel's version."""
    for path in folder.glob("docker/Dockerfile*"):
        text = path.read_text("utf-8")
        (image,) = [a for a in locked.artifact if a.kind == "image"]
        if f"ARG BASE_IMAGE={image.name}@{image.digest}\n" not in text:
            yield f"{path.name}: the base image is not {image.name}@{image.digest}"
        for version in re.findall(r"USE_BAZEL_VERSION=(\S+)", text):
            if version != locked.toolchain["bazel"].value:
                yield f"{path.name}: Bazel {version}"


def definition(folder: Path, locked: Lock) -> Iterator[str]:
    """Apptainer's base image."""
    for path in folder.glob("docker/apptainer.def"):
        (image,) = [a for a in locked.artifact if a.kind == "image"]
        name = image.name.rpartition(":")[0]
        if f"From: {name}@{image.digest}\n" not in path.read_text("utf-8"):
            yield f"apptainer.def: the base image is not {name}@{image.digest}"


def flake(folder: Path, locked: Lock) -> Iterator[str]:
    """Bazel, nixpkgs and the versions that Nix pins otherwise."""
    if not (folder / "nix").exists():
        return
    data = json.loads((folder / "nix" / "target.json").read_text("utf-8"))
    by_name = {a.name: a for a in locked.artifact}
    table = locked.formats["nix"]
    bazel = by_name["bazel"]
    said = (data["bazel"]["version"], data["bazel"]["sha256"], data["bazel"]["urls"])
    if said != (bazel.version, bazel.sha256, bazel.urls):
        yield f"target.json: Bazel {said}"
    if data["nixpkgs"] != table["nixpkgs"].value:
        yield f"target.json: nixpkgs {data['nixpkgs']}"
    if "cuda" in table:
        minor = ".".join(table["cuda"].value.split(".")[:2])
        if data["variables"]["TF_CUDA_VERSION"] != minor:
            yield f"target.json: CUDA {data['variables']['TF_CUDA_VERSION']}"
    node = json.loads((folder / "nix" / "flake.lock").read_text("utf-8"))["nodes"]["nixpkgs"]
    pin = by_name["nixpkgs"]
    if (node["locked"]["rev"], node["locked"]["narHash"]) != (pin.rev, pin.nar_hash):
        yield f"flake.lock: {node['locked']}"


def conda(folder: Path, locked: Lock) -> Iterator[str]:
    """Python, CUDA and cuDNN, as conda pins them."""
    table = locked.formats.get("conda", {})
    names = {"python": "python", "cudatoolkit": "cuda", "cudnn": "cudnn"}
    for path in folder.glob("conda/environment.*.yml"):
        for name, version in re.findall(r'- "([a-z]+)=([^"]+)"', path.read_text("utf-8")):
            key = names.get(name)
            expected = table.get(key) or locked.toolchain.get(key) if key else None
            if expected is not None and version != expected.value:
                yield f"{path.name}: {name} {version}, locked is {expected.value}"


def differences(locked: Lock) -> Iterator[str]:
    """A format that pins otherwise says why."""
    for name, table in locked.formats.items():
        for key, value in table.items():
            if not (value.reason and value.source):
                yield f"the format {name} gives no reason for {key} {value.value}"


@pytest.mark.parametrize("target", TARGETS)
def test_every_file_carries_what_the_lock_says(target: str) -> None:
    assert problems(ENVIRONMENTS / target) == []


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("docker/Dockerfile", "152dc042", "00000000"),
        ("docker/Dockerfile", "USE_BAZEL_VERSION=3.7.2", "USE_BAZEL_VERSION=3.7.1"),
        ("docker/Dockerfile", "https://www.python.org/ftp/", "https://example.org/ftp/"),
        ("docker/Dockerfile.run", "ad93ea98", "ad93ea99"),
        ("docker/apptainer.def", "152dc042", "00000000"),
        ("docker/requirements.txt", "numpy==1.19.5", "numpy==1.19.4"),
        ("nix/target.json", "70dc0bee", "70dc0bef"),
        ("nix/target.json", '"TF_CUDA_VERSION": "11.2"', '"TF_CUDA_VERSION": "11.3"'),
        ("nix/flake.lock", "eabc3821", "eabc3822"),
        ("conda/environment.run.yml", '"cudatoolkit=', '"cudatoolkit=1'),
        ("script/build-host.sh", "305da428", "305da429"),
        ("script/build-host.sh", "https://github.com/bazelbuild", "https://example.org/bazelbuild"),
    ],
)
def test_a_file_that_says_something_else_is_found(
    file: str, old: str, new: str, tmp_path: Path
) -> None:
    folder = tmp_path / "2.6.5-cuda"
    shutil.copytree(ENVIRONMENTS / "2.6.5-cuda", folder)
    path = folder / file
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")
    assert problems(folder)
