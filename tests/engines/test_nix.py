"""The generated flakes, in real Nix: checked, built, entered; offline, on a stand-in nixpkgs."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import msgspec
import pytest

from tests.engines import nix
from tests.engines.channel import served
from tfenv import facts, lock
from tfenv.facts import schema
from tfenv.files import sha256_bytes
from tfenv.lock import store
from tfenv.lock.model import Value
from tfenv.render import PURPOSES, mirrors, render
from tfenv.render.nix import lock_file
from tfenv.render.plan import make
from tfenv.target import parse

pytestmark = pytest.mark.nix

ROOT = Path(__file__).resolve().parents[2]
TARGETS = sorted(path.parent.name for path in (ROOT / "environments").glob("*/nix"))
BAZEL = b"#!/bin/sh\necho a release binary\n"


@pytest.fixture
def engine(tmp_path: Path) -> nix.Nix:
    return nix.engine(tmp_path / "nix")


def copy(target: str, folder: Path) -> Path:
    """A committed flake without its lock, which names the real nixpkgs."""
    shutil.copytree(ROOT / "environments" / target / "nix", folder)
    (folder / "flake.lock").unlink()
    return folder


def release(target: str) -> str:
    lock = store.load(ROOT / "environments" / target / "lock.toml")
    return lock.formats["nix"]["nixpkgs"].value


def edit(flake: Path, **changes: object) -> None:
    """Change values of target.json's bazel."""
    path = flake / "target.json"
    data = json.loads(path.read_text("utf-8"))
    data["bazel"] |= changes
    path.write_text(json.dumps(data), encoding="utf-8")


def on(stub: Path, flake: Path, *arguments: str) -> list[str]:
    """A command on a flake, with the stand-in as its nixpkgs."""
    return [
        *arguments[:1],
        *(arguments[1:2] if arguments[0] == "flake" else ()),
        *("--no-write-lock-file", "--override-input", "nixpkgs", f"path:{stub}"),
        f"path:{flake}",
        *arguments[2 if arguments[0] == "flake" else 1 :],
    ]


def seeded(engine: nix.Nix, tmp_path: Path, flake: Path) -> None:
    """Give Nix a Bazel of our own as the fixed output that the flake asks for."""
    file = tmp_path / "bazel-file"
    file.write_bytes(BAZEL)
    edit(flake, sha256=sha256_bytes(BAZEL))
    version = json.loads((flake / "target.json").read_text("utf-8"))["bazel"]["version"]
    engine.seed(file, f"bazel-{version}")


def test_there_are_flakes() -> None:
    assert {"2.6.5-cpu", "2.6.5-cuda"} <= set(TARGETS)


@pytest.mark.parametrize("target", TARGETS)
def test_flake_is_checked_entered_and_run(target: str, engine: nix.Nix, tmp_path: Path) -> None:
    stub = nix.stub(tmp_path / "stub", release(target))
    flake = copy(target, tmp_path / "flake")
    seeded(engine, tmp_path, flake)

    # A stand-in's packages are shell scripts: another machine's are built here too.
    system = json.loads((flake / "target.json").read_text("utf-8"))["system"]
    as_system = ("--option", "system", system)

    engine.run(*on(stub, flake, "flake", "check"), *as_system)
    show = json.loads(engine.run(*on(stub, flake, "flake", "show", "--json"), *as_system).stdout)
    assert list(show["devShells"]) == [system]
    assert set(show) == {"apps", "checks", "devShells", "packages"}
    assert {"bazel", "default", "fhs"} <= show["packages"][system].keys()
    assert {"build", "verify"} <= show["apps"][system].keys()

    says = engine.run(
        *on(stub, flake, "develop"),
        *(*as_system, "-c", "sh", "-c", 'python3; "$(basename "$CC")"; bazel; env'),
    ).stdout.splitlines()
    table = store.load(ROOT / "environments" / target / "lock.toml").formats["nix"]
    assert says[0] == f"python3 {table['python'].value}"
    assert says[1].endswith(f" {table['compiler'].value}")
    assert says[2] == "a release binary"
    variables = dict(line.split("=", 1) for line in says[3:] if "=" in line)
    assert variables["TFENV_TARGET"] == target
    assert variables["GCC_HOST_COMPILER_PATH"] == variables["CC"]
    clang_is_there(variables, table)
    cuda_is_there(variables, table)


def clang_is_there(variables: Mapping[str, str], table: Mapping[str, Value]) -> None:
    """What TensorFlow's build asks for where clang compiles, CUDA included."""
    clang = "clang" in table["compiler"].reason
    assert (variables.get("TF_NEED_CLANG", "0") == "1") == clang
    assert ("CLANG_COMPILER_PATH" in variables) == clang
    if clang:
        assert variables["CLANG_COMPILER_PATH"] == variables["CC"]
        assert Path(variables["CC"]).name == "clang"
        assert Path(variables["CXX"]).name == "clang++"
        assert variables["CLANG_CUDA_COMPILER_PATH"] == variables["CC"]
        assert shutil.which("ld.lld", path=variables["PATH"])


def cuda_is_there(variables: Mapping[str, str], table: Mapping[str, Value]) -> None:
    hermetic = "HERMETIC_CUDA_VERSION" in variables
    assert ("cuda" in table or hermetic) == (variables["TF_NEED_CUDA"] == "1")
    assert not ("cuda" in table and hermetic)
    assert "/usr/lib" not in variables.get("LD_LIBRARY_PATH", "")
    if "cuda" in table:
        assert Path(variables["CUDA_TOOLKIT_PATH"], "bin", "nvcc").exists()
        assert Path(variables["CUDNN_INSTALL_PATH"], "bin", "cudnn").exists()


@pytest.mark.parametrize("target", TARGETS)
def test_locked_input_is_what_the_lock_says(target: str) -> None:
    """flake.lock names the revision and narHash of the lock, and Nix would write nothing else."""
    folder = ROOT / "environments" / target
    lock = json.loads((folder / "nix" / "flake.lock").read_text("utf-8"))
    (pin,) = [a for a in store.load(folder / "lock.toml").artifact if a.kind == "nixpkgs"]
    for node in (n for n in lock["nodes"].values() if "locked" in n):
        assert node["locked"]["rev"] == pin.rev
        assert node["locked"]["narHash"] == pin.nar_hash
        assert pin.rev in (folder / "nix" / "flake.nix").read_text("utf-8")


def test_offline_nothing_is_fetched(engine: nix.Nix, tmp_path: Path) -> None:
    """Without the seed there is no Bazel and no network: the build fails and says what it wanted."""
    stub = nix.stub(tmp_path / "stub", release("2.6.5-cuda"))
    flake = copy("2.6.5-cuda", tmp_path / "flake")
    done = engine.run(*on(stub, flake, "flake", "check"), check=False)
    assert done.returncode != 0
    assert "bazel-3.7.2-linux-x86_64" in done.stderr


def test_wrong_bazel_is_refused(engine: nix.Nix, tmp_path: Path) -> None:
    """A server that hands out something else than the locked file."""
    stub = nix.stub(tmp_path / "stub", release("2.6.5-cuda"))
    flake = copy("2.6.5-cuda", tmp_path / "flake")
    mirror = tmp_path / "mirror"
    mirror.mkdir()
    (mirror / "bazel").write_bytes(BAZEL)
    with served(mirror) as address:
        edit(flake, urls=[f"{address}/bazel"])
        wrong = engine.run(*on(stub, flake, "flake", "check"), check=False)
        assert wrong.returncode != 0
        assert "hash mismatch in fixed-output derivation" in wrong.stderr

        edit(flake, sha256=sha256_bytes(BAZEL))
        engine.run(*on(stub, flake, "flake", "check"))


@pytest.mark.parametrize(("missing", "what"), [("python37", "python"), ("gcc7", "compiler")])
def test_missing_attribute_is_named(
    engine: nix.Nix, tmp_path: Path, missing: str, what: str
) -> None:
    stub = nix.stub(tmp_path / "stub", release("2.6.5-cuda"), without=missing)
    flake = copy("2.6.5-cuda", tmp_path / "flake")
    seeded(engine, tmp_path, flake)
    done = engine.run(*on(stub, flake, "develop"), "-c", "true", check=False)
    assert done.returncode != 0
    assert f"tfenv 2.6.5-cuda: nixpkgs 21.11 has no {what} (tried {missing})" in done.stderr
    (stub / ".version").write_text("20.09", encoding="utf-8")
    done = engine.run(*on(stub, flake, "develop"), "-c", "true", check=False)
    assert f"has no {what} (tried {missing}); the tree given for it is 20.09" in done.stderr


def test_flakes_parse(engine: nix.Nix) -> None:
    for path in [*(ROOT / "environments").glob("*/nix/flake.nix"), ROOT / "flake.nix"]:
        engine.program("nix-instantiate", "--parse", path)


@pytest.mark.optional
@pytest.mark.skipif("TFENV_NIXPKGS" not in os.environ, reason="TFENV_NIXPKGS points at no nixpkgs")
def test_real_nixpkgs_evaluates(engine: nix.Nix, tmp_path: Path) -> None:
    """The shells of all targets of the release that the tree is of."""
    tree = Path(os.environ["TFENV_NIXPKGS"])
    of = (tree / ".version").read_text("utf-8").strip()
    same = [target for target in TARGETS if release(target) == of]
    if not same:
        pytest.skip(f"no committed target uses nixpkgs {of}")
    for target in same:
        flake = copy(target, tmp_path / target)
        for attribute in ("devShells.x86_64-linux.default", "packages.x86_64-linux.fhs"):
            command = on(tree, flake, "eval")
            done = engine.run(*command[:-1], f"path:{flake}#{attribute}.drvPath", "--raw")
            assert done.stdout.endswith(".drv")


def committed(folder: Path, nixpkgs: Path, nar_hash: str = "") -> Path:
    """`generate --nixpkgs-path` of 2.6.5-cuda, its lock edited to another nixpkgs hash."""
    source = ROOT / "environments" / "2.6.5-cuda"
    folder.mkdir()
    for path in source.glob("*.t*t*"):
        shutil.copyfile(path, folder / path.name)
    locked = store.load(source / "lock.toml")
    if nar_hash:
        artifacts = [
            msgspec.structs.replace(a, nar_hash=nar_hash) if a.kind == "nixpkgs" else a
            for a in locked.artifact
        ]
        locked = msgspec.structs.replace(locked, artifact=artifacts)
    plan = msgspec.structs.replace(
        make(locked, mirrors.Mirrors(), folder), nixpkgs_path=nixpkgs.as_posix()
    )
    for file in render(plan, ("nix",), PURPOSES):
        path = folder / file.path
        path.parent.mkdir(exist_ok=True)
        path.write_text(file.text, encoding="utf-8")
    return folder / "nix"


def test_nixpkgs_from_a_folder(engine: nix.Nix, tmp_path: Path) -> None:
    """The air-gapped site: no override, the flake's own lock, and Nix changes nothing in it."""
    stub = nix.stub(tmp_path / "stub", release("2.6.5-cuda"))
    nar_hash = engine.program("nix", "hash", "path", stub).stdout.strip()
    flake = committed(tmp_path / "flake", stub, nar_hash)
    seeded(engine, tmp_path, flake)
    lock = (flake / "flake.lock").read_bytes()
    engine.run("flake", "check", f"path:{flake}")
    says = engine.run("develop", f"path:{flake}", "-c", "sh", "-c", "python3; nvcc; bazel").stdout
    assert says == "python3 3.7.12\nnvcc 11.2.1\na release binary\n"
    assert (flake / "flake.lock").read_bytes() == lock


def test_another_tree_in_the_folder_is_refused(engine: nix.Nix, tmp_path: Path) -> None:
    """The stand-in is not the locked revision: Nix compares the hash before it evaluates."""
    stub = nix.stub(tmp_path / "stub", release("2.6.5-cuda"))
    flake = committed(tmp_path / "flake", stub)
    seeded(engine, tmp_path, flake)
    done = engine.run("flake", "check", f"path:{flake}", check=False)
    assert done.returncode != 0
    assert "NAR hash mismatch in input" in done.stderr
    (flake / "flake.lock").unlink()  # what the file's head says for another revision
    engine.run("flake", "check", f"path:{flake}")


def root_inputs() -> dict[str, schema.NixpkgsPin]:
    """The inputs that the root flake has to have: one per release that a target may need."""
    releases = {row.release for row in facts.rows(schema.NixChoice)}
    pins = [r for r in facts.rows(schema.NixpkgsPin) if r.preferred and r.release in releases]
    return {f"nixpkgs-{pin.release.replace('.', '_')}": pin for pin in pins}


def test_root_flake_locks_what_the_facts_say() -> None:
    inputs = root_inputs()
    expected = lock_file({n: (p.rev, p.nar_hash, p.last_modified) for n, p in inputs.items()})
    assert (ROOT / "flake.lock").read_text("utf-8") == expected
    text = (ROOT / "flake.nix").read_text("utf-8")
    for name, pin in inputs.items():
        assert f'{name} = {{ url = "github:NixOS/nixpkgs/{pin.rev}"; flake = false; }};' in text


@pytest.fixture
def root_flake(tmp_path: Path) -> tuple[Path, list[str]]:
    """A copy of the root flake and of the flakes it reads, and the stand-ins for its inputs."""
    flake = tmp_path / "root"
    shutil.copytree(
        ROOT / "environments", flake / "environments", ignore=shutil.ignore_patterns("docker")
    )
    shutil.copyfile(ROOT / "flake.nix", flake / "flake.nix")
    options = ["--no-write-lock-file"]
    for name, pin in root_inputs().items():
        stub = nix.stub(tmp_path / name, pin.release)
        options += ["--override-input", name, f"path:{stub}"]
    return flake, options


def test_root_flake_shows_every_target(engine: nix.Nix, root_flake: tuple[Path, list[str]]) -> None:
    flake, options = root_flake
    show = json.loads(engine.run("flake", "show", "--json", *options, f"path:{flake}").stdout)
    found = {name for shells in show["devShells"].values() for name in shells}
    assert found == {"default", *(f"tf-{target.replace('.', '_')}" for target in TARGETS)}


def test_root_flake_is_entered(engine: nix.Nix, root_flake: tuple[Path, list[str]]) -> None:
    flake, options = root_flake
    says = engine.run("develop", *options, f"path:{flake}", "-c", "shellcheck").stdout
    assert says == "shellcheck 1\n"
    file = flake.parent / "bazel-file"
    file.write_bytes(BAZEL)
    edit(flake / "environments" / "2.6.5-cuda" / "nix", sha256=sha256_bytes(BAZEL))
    engine.seed(file, "bazel-3.7.2")
    shell = f"path:{flake}#tf-2_6_5-cuda"
    says = engine.run("develop", *options, shell, "-c", "sh", "-c", "nvcc; bazel").stdout
    assert says == "nvcc 11.2.1\na release binary\n"


def test_apps_say_what_they_need(engine: nix.Nix, tmp_path: Path) -> None:
    """`nix run .#verify` really starts, in the FHS environment, and asks for the suite."""
    stub = nix.stub(tmp_path / "stub", release("2.6.5-cpu"))
    flake = copy("2.6.5-cpu", tmp_path / "flake")
    seeded(engine, tmp_path, flake)
    command = on(stub, flake, "run")
    done = engine.run(*command[:-1], f"path:{flake}#verify", "--", "/nowhere", check=False)
    assert done.returncode == 6
    assert "error: the verification suite is not there" in done.stderr


def test_programs_run_where_wheels_find_their_loader(engine: nix.Nix, tmp_path: Path) -> None:
    """`nix run`: a shell with the compiler and the variables; without a driver it says so."""
    stub = nix.stub(tmp_path / "stub", release("2.6.5-cuda"))
    flake = copy("2.6.5-cuda", tmp_path / "flake")
    seeded(engine, tmp_path, flake)
    done = engine.run(*on(stub, flake, "run"), "--", "-c", 'nvcc; "$CC"; echo "$TFENV_TARGET"')
    assert done.stdout == "nvcc 11.2.1\ngcc 7.5.0\n2.6.5-cuda\n"


@pytest.fixture
def driver(engine: nix.Nix, tmp_path: Path) -> Path:
    """The program tfenv-driver, looking for libraries in a folder of ours."""
    stub = nix.stub(tmp_path / "stub", release("2.6.5-cuda"))
    flake = copy("2.6.5-cuda", tmp_path / "flake")
    seeded(engine, tmp_path, flake)
    words = ("-c", "sh", "-c", "cat $(command -v tfenv-driver)")
    text = engine.run(*on(stub, flake, "develop"), *words).stdout
    host = tmp_path / "host"
    host.mkdir()
    (host / "libstdc++.so.6").touch()
    program = tmp_path / "tfenv-driver"
    assert " /usr/lib64 " in text
    for folder in ("/run/opengl-driver/lib", "/usr/lib/x86_64-linux-gnu", "/usr/lib/wsl/lib"):
        text = text.replace(folder, "/nowhere")
    program.write_text(text.replace("/usr/lib64", str(host)), encoding="utf-8")
    return program


@pytest.mark.parametrize("how", ["link", "copy"])
def test_driver_has_a_folder_of_its_own(driver: Path, how: str) -> None:
    host, into = driver.parent / "host", driver.parent / "into"
    for name in ("libcuda.so.1", "libnvidia-ml.so.1"):
        (host / f"{name}.535").write_text("old", encoding="utf-8")
        (host / name).symlink_to(f"{name}.535")
    command: list[str | Path] = ["bash", driver, into, how]
    for version in ("first", "second"):  # the driver is updated in between
        (host / "libcuda.so.1.535").write_text(version, encoding="utf-8")
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        assert done.stdout == f"{into}\n"
        assert {path.name for path in into.iterdir()} == {"libcuda.so.1", "libnvidia-ml.so.1"}
        assert (into / "libcuda.so.1").read_text("utf-8") == version
        assert (into / "libcuda.so.1").is_symlink() == (how == "link")


def test_no_driver_is_told(driver: Path) -> None:
    done = subprocess.run(
        ["bash", driver, driver.parent / "into"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "no libcuda.so.1 on this machine" in done.stderr


def test_flake_with_a_mirror_is_checked(engine: nix.Nix, tmp_path: Path) -> None:
    plan = make(lock.for_target(parse("2.6.5-cpu")), mirrors.parse("tsinghua"))
    for file in render(plan, ("nix",), PURPOSES):
        path = tmp_path / file.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(file.text, encoding="utf-8")
    (tmp_path / "nix" / "flake.lock").unlink()
    shutil.move(tmp_path / "nix", tmp_path / "flake")
    seeded(engine, tmp_path, tmp_path / "flake")
    stub = nix.stub(tmp_path / "stub", release("2.6.5-cpu"))
    engine.run(*on(stub, tmp_path / "flake", "flake", "check"))
