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
from tfenv.facts.pinned import parse as parse_pins
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
        *devcontainer(folder, locked),
        *flake(folder, locked),
        *conda(folder, locked),
        *recipes(folder, locked),
        *scripts(folder, locked),
        *windows(folder, locked),
        *expectations(folder, locked),
        *packages(folder, locked),
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


def devcontainer(folder: Path, locked: Lock) -> Iterator[str]:
    """The editor's container: the target, and a stage that the Dockerfile has."""
    for path in folder.glob("docker/devcontainer.json"):
        said = json.loads(path.read_text("utf-8"))
        if said["containerEnv"]["TFENV_TARGET"] != locked.target:
            yield f"devcontainer.json: {said['containerEnv']}"
        dockerfile = folder / "docker" / said["build"]["dockerfile"]
        stages = re.findall(r"^FROM \S+ AS (\w+)$", dockerfile.read_text("utf-8"), re.MULTILINE)
        if said["build"]["target"] not in stages:
            yield f"devcontainer.json: no stage {said['build']['target']}"


def pinned(locked: Lock, key: str, form: str) -> str:
    """A value as one format pins it; empty: the target has none."""
    table = locked.formats.get(form, {})
    found = table.get(key) or locked.toolchain.get(key)
    return found.value if found else ""


def variables(path: Path) -> dict[str, str]:
    """What a script exports, or target.json says."""
    text = path.read_text("utf-8")
    if path.suffix == ".json":
        found: dict[str, str] = json.loads(text)["variables"]
        return found
    lines = re.findall(r"^(?:export |\$env:)(\w+) ?= ?(.*)$", text, re.MULTILINE)
    return {name: value.strip("'") for name, value in lines}


def recipes(folder: Path, locked: Lock) -> Iterator[str]:
    """What configure is told, in every file that tells it something."""
    hermetic = locked.toolchain.get("cuda-from")
    for path in sorted(folder.glob("*/*")):
        if path.name not in ("build.sh", "build.ps1", "target.json"):
            continue
        form = "nix" if path.parent.name == "nix" else ""
        said, name = variables(path), path.relative_to(folder).as_posix()
        if "cmake" in locked.toolchain:
            continue  # configured by CMake's options: `windows` reads them
        cuda, cudnn = pinned(locked, "cuda", form), pinned(locked, "cudnn", form)
        expected = {"TF_NEED_CUDA": str(int(bool(cuda)))}
        if "HERMETIC_CUDA_VERSION" in said or (hermetic and hermetic.value == "hermetic"):
            expected |= {"HERMETIC_CUDA_VERSION": cuda, "HERMETIC_CUDNN_VERSION": cudnn[:5]}
        elif cuda and "TF_CUDA_VERSION" in said:
            expected |= {
                "TF_CUDA_VERSION": ".".join(cuda.split(".")[:2]),
                "TF_CUDNN_VERSION": cudnn.split(".")[0],
            }
        for key, value in expected.items():
            if not said.get(key, "").startswith(value):
                yield f"{name}: {key} is {said.get(key)}, locked is {value}"
        for key in ("TF_CUDA_COMPUTE_CAPABILITIES", "HERMETIC_CUDA_COMPUTE_CAPABILITIES"):
            if key in said and digits(said[key]) != digits(pinned(locked, "capabilities", form)):
                yield f"{name}: {key} is {said[key]}"


def digits(capabilities: str) -> list[str]:
    """sm_35,compute_80 and 3.5,8.0 are two ways to write the same."""
    return [re.sub(r"\D", "", one) for one in capabilities.split(",")]


def scripts(folder: Path, locked: Lock) -> Iterator[str]:
    """Bazel's version, Python's and the work's own name."""
    python = locked.toolchain["python"].value
    for path in folder.glob("script/build*"):
        said = variables(path)
        bazel = said.get("USE_BAZEL_VERSION", "")
        if bazel and bazel != locked.toolchain["bazel"].value:
            yield f"{path.name}: Bazel {bazel}"
        text = path.read_text("utf-8")
        if path.name in ("build-host.sh", "build.ps1") and locked.target not in text:
            yield f"{path.name} does not name {locked.target}"
        asked = re.findall(r"py '-(\d\.\d+)'|python(\d\.\d+)\b", text)
        for found in {a or b for a, b in asked} - {python}:
            yield f"{path.name}: Python {found}"


def windows(folder: Path, locked: Lock) -> Iterator[str]:
    """The CUDA and cuDNN that the PowerShell script looks for, and what CMake is told of them."""
    for path in folder.glob("script/build.ps1"):
        text = path.read_text("utf-8")
        cuda, cudnn = pinned(locked, "cuda", ""), pinned(locked, "cudnn", "")
        minor = ".".join(cuda.split(".")[:2])
        wanted = (
            [f"\\CUDA\\v{minor}'", f"CUDA {cuda}", f"cuDNN {cudnn.split('.')[0]} "] if cuda else []
        )
        if "cmake" in locked.toolchain and cuda:
            wanted.append("'-Dtensorflow_ENABLE_GPU=ON'")
        yield from (f"build.ps1 does not say {one}" for one in wanted if one not in text)


def expectations(folder: Path, locked: Lock) -> Iterator[str]:
    """What the suite looks for is what was locked."""
    for path in sorted(folder.rglob("expect*.json")):
        said = json.loads(path.read_text("utf-8"))
        name = path.relative_to(folder).as_posix()
        pins = parse_pins((folder / "requirements.txt").read_text("utf-8"), name).pins
        if said["packages"] != {pin.name: pin.version for pin in pins}:
            yield f"{name}: the packages are not the locked ones"
        if (said["target"], said["python"]) != (locked.target, locked.toolchain["python"].value):
            yield f"{name}: {said['target']}, Python {said['python']}"


def packages(folder: Path, locked: Lock) -> Iterator[str]:
    """A build has the locked packages but for TensorFlow itself, and each by its locked hash."""
    known = {
        line
        for path in (folder / "requirements.txt", *folder.rglob("requirements.tools.txt"))
        for line in path.read_text("utf-8").splitlines()
    }
    for path in folder.rglob("requirements.build.txt"):
        for line in path.read_text("utf-8").splitlines():
            if "--hash=" in line and line not in known:
                yield f"{path.relative_to(folder)}: {line[:60]} is not locked"


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
    attributes = {
        (row.component, tuple(row.attributes)): row.version
        for row in facts.rows(schema.NixChoice)
        if row.release == table["nixpkgs"].value
    }
    for component, names in data["attributes"].items():
        key = data["compiler"] if component == "compiler" else component
        version = attributes.get((key, tuple(names)))
        if component != "linker" and version != table[component].value:
            yield f"target.json: {names} is {version}, locked is {table[component].value}"
    if by_name["nixpkgs"].rev not in (folder / "nix" / "flake.nix").read_text("utf-8"):
        yield "flake.nix names another nixpkgs"
    node = json.loads((folder / "nix" / "flake.lock").read_text("utf-8"))["nodes"]["nixpkgs"]
    pin = by_name["nixpkgs"]
    if (node["locked"]["rev"], node["locked"]["narHash"]) != (pin.rev, pin.nar_hash):
        yield f"flake.lock: {node['locked']}"


def conda(folder: Path, locked: Lock) -> Iterator[str]:
    """Python, CUDA and cuDNN, as conda pins them."""
    table = locked.formats.get("conda", {})
    names = {"python": "python", "cudatoolkit": "cuda", "cudnn": "cudnn", "bazel": "bazel"}
    for path in folder.glob("conda/environment.*.yml"):
        text = path.read_text("utf-8")
        if f'TFENV_TARGET: "{locked.target}"' not in text:
            yield f"{path.name} is not for {locked.target}"
        for name, version in re.findall(r'- "([a-z]+)=([^"]+)"', text):
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
        ("nix/target.json", '"TF_CUDNN_VERSION": "8"', '"TF_CUDNN_VERSION": "7"'),
        ("nix/target.json", '"cudatoolkit_11_2"', '"cudatoolkit_11_1"'),
        ("nix/target.json", '"python37"', '"python38"'),
        ("nix/flake.nix", "eabc3821", "eabc3822"),
        ("nix/flake.lock", "eabc3821", "eabc3822"),
        ("nix/build.sh", "TF_CUDA_VERSION=11.2", "TF_CUDA_VERSION=11.3"),
        ("nix/expect.json", '"numpy": "1.19.5"', '"numpy": "1.19.4"'),
        ("nix/requirements.build.txt", "numpy==1.19.5", "numpy==1.19.4"),
        ("docker/build.sh", "TF_CUDA_VERSION=11.3", "TF_CUDA_VERSION=11.2"),
        ("docker/build.sh", "sm_35,", ""),
        ("docker/expect.json", '"python": "3.7"', '"python": "3.8"'),
        ("docker/expect.build.json", '"target": "2.6.5-cuda"', '"target": "2.6.5-cpu"'),
        ("docker/devcontainer.json", '"target": "toolchain"', '"target": "tools"'),
        ("docker/devcontainer.json", '"TFENV_TARGET": "2.6.5-cuda"', '"TFENV_TARGET": "2.6.5-cpu"'),
        ("docker/requirements.tools.txt", "setuptools==", "setuptools==1"),
        ("conda/build.sh", "TF_NEED_CUDA=1", "TF_NEED_CUDA=0"),
        ("conda/environment.build.yml", '"bazel=3.7.2"', '"bazel=3.7.1"'),
        ("conda/environment.run.yml", 'TFENV_TARGET: "2.6.5-cuda"', 'TFENV_TARGET: "2.6.5-cpu"'),
        ("script/build.sh", "TF_CUDNN_VERSION=8", "TF_CUDNN_VERSION=7"),
        ("script/build-host.sh", "USE_BAZEL_VERSION=3.7.2", "USE_BAZEL_VERSION=3.7.1"),
        ("conda/environment.run.yml", '"cudatoolkit=', '"cudatoolkit=1'),
        ("script/build-host.sh", "305da428", "305da429"),
        ("script/build-host.sh", "https://github.com/bazelbuild", "https://example.org/bazelbuild"),
    ],
)
def test_a_file_that_says_something_else_is_found(
    file: str, old: str, new: str, tmp_path: Path
) -> None:
    assert problems(planted("2.6.5-cuda", file, old, new, tmp_path))


def planted(target: str, file: str, old: str, new: str, tmp_path: Path) -> Path:
    """A copy of a target's folder in which one file says something else."""
    folder = tmp_path / target
    shutil.copytree(ENVIRONMENTS / target, folder)
    path = folder / file
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("target", "file", "old", "new"),
    [
        ("2.21.0-cuda", "nix/target.json", "12.5.1", "12.5.0"),
        ("2.21.0-cuda", "nix/target.json", "llvmPackages_18.clang", "llvmPackages_17.clang"),
        ("2.21.0-cuda", "docker/build.sh", "CUDNN_VERSION=9.3.0", "CUDNN_VERSION=9.2.0"),
        ("2.10.1-cuda-windows", "script/build.ps1", "'5.1.1'", "'5.1.0'"),
        ("2.10.1-cuda-windows", "script/build.ps1", "py '-3.10'", "py '-3.9'"),
        (
            "2.10.1-cuda-windows",
            "script/build.ps1",
            "TF_CUDA_VERSION = '11.2'",
            "TF_CUDA_VERSION = '11.3'",
        ),
        ("2.10.1-cuda-windows", "conda/environment.run.yml", "cudnn=8.1.0.77", "cudnn=8.2.0"),
        ("1.15.5-cpu-macos-cc", "script/build-host.sh", "0.26.1", "0.26.0"),
        ("1.4.0-cuda-windows", "script/build.ps1", "CUDA\\v9.0", "CUDA\\v9.1"),
        ("1.4.0-cuda-windows", "script/build.ps1", "cuDNN 7 ", "cuDNN 6 "),
        ("1.4.0-cuda-windows", "script/build.ps1", "GPU=ON", "GPU=OFF"),
        ("1.4.0-cuda-windows", "script/build.ps1", "1.4.0-cuda-windows", "1.4.1-cuda-windows"),
        ("2.15.1-cpu-arm64", "docker/apptainer.def", "80dd3c3b", "80dd3c3c"),
    ],
)
def test_every_kind_of_file_is_read(
    target: str, file: str, old: str, new: str, tmp_path: Path
) -> None:
    """Hermetic CUDA, Windows, macOS and ARM, too."""
    assert problems(planted(target, file, old, new, tmp_path))
