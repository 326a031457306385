"""Rendering: the same text twice, the lock's values in every format, nothing that could inject."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tfenv import lock, render
from tfenv.errors import (
    ConflictError,
    FileFormatError,
    TfenvError,
    UnpinnedError,
    UnsafeValueError,
    UsageError,
)
from tfenv.files import sha256_bytes
from tfenv.lock.model import Artifact, Lock
from tfenv.render import engine, mirrors, plan, safety
from tfenv.render.engine import nix, plain, powershell, shell
from tfenv.target import parse
from tfenv.toolchain import Choices


def made(name: str, mirror: str = "", **choices: str) -> dict[str, str]:
    """The files of a target in all formats, by path."""
    locked = lock.for_target(parse(name), Choices(**choices))
    ready = plan.make(locked, mirrors.parse(mirror))
    files = render.render(ready, render.formats_for(ready), render.PURPOSES)
    return {file.path: file.text for file in files}


@pytest.fixture(scope="module")
def cuda() -> dict[str, str]:
    return made("2.6.5-cuda")


def test_rendering_is_deterministic(cuda: dict[str, str]) -> None:
    assert made("2.6.5-cuda") == cuda


def test_every_file_ends_with_one_line_feed(cuda: dict[str, str]) -> None:
    for path, text in cuda.items():
        assert text.endswith("\n"), path
        assert not text.endswith("\n\n"), path
        assert "\r" not in text, path


def test_the_dockerfile_carries_the_lock(cuda: dict[str, str]) -> None:
    text = cuda["docker/Dockerfile"]
    found = {a.name: a for a in lock.for_target(parse("2.6.5-cuda")).artifact}
    assert f"ubuntu:18.04@{found['ubuntu:18.04'].digest}" in text
    for name in ("cuda", "cudnn", "bazelisk", "bazel", "cpython", "tensorflow"):
        assert found[name].sha256 in text, name
    assert "USE_BAZEL_VERSION=3.7.2" in text
    assert "numpy==1.19.5 --hash=sha256:" in cuda["docker/requirements.build.txt"]
    assert "tensorflow==2.6.5 --hash" not in cuda["docker/requirements.build.txt"]
    assert "tensorflow==2.6.5 --hash" in cuda["docker/requirements.txt"]


def test_the_dockerfile_needs_neither_heredoc_nor_syntax_line(cuda: dict[str, str]) -> None:
    for name in ("docker/Dockerfile", "docker/Dockerfile.run"):
        assert "<<" not in cuda[name]
        assert "syntax=" not in cuda[name]


@pytest.mark.parametrize(
    ("via", "text"),
    [
        ("bazelisk", "BAZELISK_VERIFY_SHA256=70dc0bee198a4c3d"),
        ("installer", "8416ff3900075ed588869a5b6dcc97844f56834e5a8344a2e27ec34a1eaf847e"),
        ("binary", "70dc0bee198a4c3d332925a32d464d9036a831977501f66d4996854ad4e4fc0d"),
    ],
)
def test_the_ways_of_bazel(via: str, text: str) -> None:
    assert text in made("2.6.5-cuda", bazel_via=via)["docker/Dockerfile"]


def test_the_flake_carries_the_lock(cuda: dict[str, str]) -> None:
    data = json.loads(cuda["nix/target.json"])
    found = {a.name: a for a in lock.for_target(parse("2.6.5-cuda")).artifact}
    assert data["bazel"]["sha256"] == found["bazel"].sha256
    assert data["attributes"]["cuda"] == ["cudatoolkit_11_2"]
    assert data["variables"]["TF_CUDA_VERSION"] == "11.2"
    locked = json.loads(cuda["nix/flake.lock"])["nodes"]["nixpkgs"]["locked"]
    assert locked["narHash"] == found["nixpkgs"].nar_hash
    assert locked["rev"] == found["nixpkgs"].rev
    assert locked["rev"] in cuda["nix/flake.nix"]


def with_nixpkgs(folder: str) -> dict[str, str]:
    ready = plan.make(lock.for_target(parse("2.6.5-cuda")), mirrors.Mirrors())
    ready = msgspec.structs.replace(ready, nixpkgs_path=safety.folder(folder, "--nixpkgs-path"))
    return {file.path: file.text for file in render.render(ready, ("nix",), render.PURPOSES)}


def test_a_flake_on_a_folder_keeps_the_hash(cuda: dict[str, str]) -> None:
    files = with_nixpkgs("/srv/nixpkgs-21.11")
    assert 'url = "path:/srv/nixpkgs-21.11";' in files["nix/flake.nix"]
    assert "github:" not in files["nix/flake.nix"]
    old = json.loads(cuda["nix/flake.lock"])["nodes"]["nixpkgs"]["locked"]
    new = json.loads(files["nix/flake.lock"])["nodes"]["nixpkgs"]["locked"]
    assert (new["narHash"], new["type"], new["path"]) == (
        old["narHash"],
        "path",
        "/srv/nixpkgs-21.11",
    )
    assert files["lock.toml"] == cuda["lock.toml"]  # the revision stays the identity


@given(st.text(max_size=40).map(lambda text: "/srv/" + text))
def test_no_folder_injects_into_a_flake(text: str) -> None:
    try:
        files = with_nixpkgs(text)
    except UnsafeValueError as error:
        assert error.exit_code == 2  # noqa: PT017 refusing is the other right outcome
        return
    assert f'url = "path:{text}";' in files["nix/flake.nix"]
    assert re.fullmatch(r"[A-Za-z0-9/._+-]+", text)


def test_the_conda_environment_carries_the_format_pins(cuda: dict[str, str]) -> None:
    table = lock.for_target(parse("2.6.5-cuda")).formats["conda"]
    for purpose in render.PURPOSES:
        text = cuda[f"conda/environment.{purpose}.yml"]
        assert f"python={table['python'].value}" in text
        assert f"cudatoolkit={table['cuda'].value}" in text
        assert f"cudnn={table['cudnn'].value}" in text


def test_the_cpu_target_has_no_cuda() -> None:
    files = made("2.6.5-cpu")
    assert "cuda_" not in files["docker/Dockerfile"]
    assert "cudatoolkit" not in files["conda/environment.run.yml"]
    assert json.loads(files["nix/target.json"])["variables"]["TF_NEED_CUDA"] == "0"


def test_the_mirror_of_tsinghua_for_pip_apt_and_conda() -> None:
    files = made("2.6.5-cuda", "tsinghua")
    docker = files["docker/Dockerfile"]
    assert "ARG PIP_INDEX_URL=https://pypi.tuna.tsinghua.edu.cn/simple" in docker
    assert "ARG APT_MIRROR=http://mirrors.tuna.tsinghua.edu.cn/ubuntu" in docker
    # The environment names the channel; the setting beside it names the mirror, and can be left out.
    assert '  - "conda-forge"' in files["conda/environment.run.yml"]
    assert "tuna" not in files["conda/environment.run.yml"].partition("name:")[2]
    setting = files["conda/mirror.condarc"].partition("custom_channels:")[2].strip()
    assert setting == 'conda-forge: "https://mirrors.tuna.tsinghua.edu.cn/anaconda/cloud"'
    assert "|| conda env create" in files["conda/environment.run.yml"]
    # tsinghua has no Bazel: the canonical place stays
    assert "tuna" not in json.dumps(json.loads(files["nix/target.json"])["bazel"])
    assert "tsinghua" not in files["lock.toml"]


def test_conda_on_windows_is_for_running() -> None:
    """conda-forge has no compiler, no nvcc and no patch there: the build is the script's."""
    ready = plan.make(lock.for_target(parse("2.10.1-cuda-windows")), mirrors.Mirrors())
    files = {file.path for file in render.render(ready, ("conda",), render.PURPOSES)}
    assert {"conda/environment.run.yml", "conda/postinstall.ps1"} <= files
    assert not {p for p in files if "build" in p or p.endswith(".sh")}
    with pytest.raises(ConflictError) as caught:
        render.render(ready, ("conda",), ("build",))
    assert "--format script" in caught.value.fix


def test_the_mirror_of_the_binary_cache_and_of_ubuntu_for_arm() -> None:
    flake = made("2.6.5-cuda", "tsinghua")["nix/flake.nix"]
    place = "https://mirrors.tuna.tsinghua.edu.cn/nix-channels/store"
    assert f'nixConfig.extra-substituters = [ "{place}" ];' in flake
    arm = made("2.15.1-cpu-arm64", "tsinghua")["docker/Dockerfile"]
    assert "ARG APT_MIRROR=http://mirrors.tuna.tsinghua.edu.cn/ubuntu-ports\n" in arm
    assert "[^ /]+/ubuntu-ports/?" in arm


def test_a_mirror_per_kind_and_an_address() -> None:
    found = mirrors.parse("pip=ustc,bazel=https://mirror.example/bazel")
    assert found.get("pip") == "https://mirrors.ustc.edu.cn/pypi/simple"
    assert found.get("bazel") == "https://mirror.example/bazel"
    assert found.get("conda") == ""


@pytest.mark.parametrize(
    "text",
    ["nowhere", "pip=nowhere", "paper=ustc", "bazel=tsinghua", "https://mirror.example"],
)
def test_a_mirror_that_cannot_serve_is_refused(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        mirrors.parse(text)
    assert caught.value.exit_code == 2


@pytest.mark.parametrize("url", ["https://x.example/a\nRUN id", "https://x/$(id)", "https://x/;id"])
def test_a_hostile_mirror_address_is_refused(url: str) -> None:
    with pytest.raises(UnsafeValueError):
        mirrors.parse(f"pip={url}")


def hostile(text: str, where: str) -> Lock:
    """The 2.6.5-cuda lock with one value replaced."""
    locked = lock.for_target(parse("2.6.5-cuda"))
    if where == "toolchain":
        value = msgspec.structs.replace(locked.toolchain["bazel"], value=text)
        return msgspec.structs.replace(locked, toolchain={**locked.toolchain, "bazel": value})
    if where == "pins":
        value = msgspec.structs.replace(locked.formats["conda"]["python"], value=text)
        table = {**locked.formats["conda"], "python": value}
        return msgspec.structs.replace(locked, formats={**locked.formats, "conda": table})
    artifact = locked.artifact[0]
    changed: Artifact = {
        "url": lambda: msgspec.structs.replace(artifact, urls=[text]),
        "sha256": lambda: msgspec.structs.replace(artifact, sha256=text),
        "version": lambda: msgspec.structs.replace(artifact, version=text),
        "name": lambda: msgspec.structs.replace(artifact, name=text),
    }[where]()
    return msgspec.structs.replace(locked, artifact=[changed, *locked.artifact[1:]])


@pytest.mark.parametrize("where", ["toolchain", "pins", "url", "sha256", "version", "name"])
@pytest.mark.parametrize("text", ["1'; id #", '1"\nRUN id', "$(id)", "`id`", "${x}", "a\\", "\x1b"])
def test_a_hostile_lock_is_refused(where: str, text: str) -> None:
    with pytest.raises(UnsafeValueError) as caught:
        safety.check(hostile(text, where))
    assert caught.value.exit_code == 2


@given(st.text(min_size=1, max_size=30), st.sampled_from(["toolchain", "pins", "url", "version"]))
def test_whatever_a_lock_holds_is_plain_or_refused(text: str, where: str) -> None:
    try:
        safety.check(hostile(text, where))
    except UnsafeValueError:
        return
    assert not set(text) & set("'\"\\$`\n\r;&|<*?(){}!#\x00") - set("<")


# What would change the meaning of one of the files. Versions and addresses need none of it.
_HOSTILE = set("'\"\\$`\n\r;&|<>*?(){}!#\x00 \t")
_CHOICES = (
    "python",
    "compiler",
    "bazel",
    "bazel_via",
    "cuda",
    "cudnn",
    "gpu",
    "march",
    "numpy",
    "base",
)
_NEAR = {"python": "3.7", "compiler": "gcc-7", "bazel": "3.7.2", "cuda": "11.2", "march": "native"}


@st.composite
def near_right(draw: st.DrawFn) -> tuple[str, str]:
    """A choice and a value: any text, or a right one with something before or behind it."""
    name = draw(st.sampled_from(_CHOICES))
    text = draw(st.text(max_size=20))
    right = _NEAR.get(name, "")
    return name, draw(st.sampled_from([text, right + text, text + right]))


@settings(max_examples=150, deadline=None)
@given(near_right())
def test_no_choice_injects(choice: tuple[str, str]) -> None:
    name, text = choice
    try:
        files = made("2.6.5-cuda", **{name: text})
    except TfenvError as error:
        assert error.exit_code in (2, 3)  # noqa: PT017 refusing is the other right outcome
        return
    if set(text) & _HOSTILE:
        assert not any(text in content for content in files.values()), choice


@settings(max_examples=100, deadline=None)
@given(st.sampled_from(mirrors.KINDS), st.text(max_size=30))
@example("pip", "\nRUN id")
@example("conda", '"\n  - evil')
@example("nix", '"; builtins.exec [ "id" ]; x = "')
@example("bazel", "$(id)")
@example("apt-ubuntu", "#\nRUN id")
def test_no_mirror_injects(kind: str, text: str) -> None:
    try:
        files = made("2.6.5-cuda", f"{kind}=https://mirror.example/{text}")
    except TfenvError as error:
        assert error.exit_code == 2  # noqa: PT017 refusing is the other right outcome
        return
    assert not set(text.partition(",")[0].strip()) & _HOSTILE
    assert files


@settings(max_examples=10, deadline=None)  # a refusal looks for the nearest of 900 names
@given(st.text(min_size=1, max_size=30))
def test_no_target_name_injects(text: str) -> None:
    for name in (text, f"2.6.5-cuda{text}", f"{text}2.6.5-cuda"):
        try:
            target = parse(name)
        except TfenvError as error:
            assert error.exit_code in (2, 3)  # noqa: PT017 refusing is the other right outcome
        else:
            assert re.fullmatch(r"[0-9.]+(post\d+)?-[a-z0-9-]+", target.name)


@given(st.text(max_size=40))
def test_quotes_hold_any_text(text: str) -> None:
    import shlex

    if "\x00" not in text:
        assert shlex.split(f"x {shell(text)}")[1:] == ([text] if text else [""])
    assert '"' not in nix(text)[1:-1].replace('\\"', "")
    assert powershell(text)[1:-1].replace("''", "").count("'") == 0
    try:
        assert plain(text) == text
    except UnsafeValueError as error:
        assert error.exit_code == 2  # noqa: PT017 refusing is the other right outcome


def test_a_target_that_a_format_cannot_serve() -> None:
    ready = plan.make(lock.for_target(parse("2.6.5-cpu")), mirrors.Mirrors())
    table = {**ready.lock.formats, "nix": {}}
    bare = msgspec.structs.replace(ready, lock=msgspec.structs.replace(ready.lock, formats=table))
    with pytest.raises(ConflictError):
        render.render(bare, ("nix",), render.PURPOSES)
    assert "nix" not in render.formats_for(bare)


def test_an_unknown_format_is_refused() -> None:
    ready = plan.make(lock.for_target(parse("2.6.5-cpu")), mirrors.Mirrors())
    with pytest.raises(UsageError):
        render.render(ready, ("vagrant",), render.PURPOSES)


def test_strict_refuses_what_is_not_pinned() -> None:
    locked = lock.for_target(parse("2.6.5-cpu"))
    loose = msgspec.structs.replace(locked.artifact[0], sha256="", unpinned="nobody knows")
    bad = msgspec.structs.replace(locked, artifact=[loose])
    with pytest.raises(UnpinnedError) as caught:
        render.refuse_unpinned(bad, ("docker",))
    assert caught.value.exit_code == 3
    assert "tensorflow 2.6.5" in caught.value.what


def test_a_python_lock_that_is_not_the_locked_one() -> None:
    locked = lock.for_target(parse("2.6.5-cpu"))
    assert locked.python is not None
    other = msgspec.structs.replace(locked.python, sha256="0" * 64)
    with pytest.raises(TfenvError) as caught:
        plan.make(msgspec.structs.replace(locked, python=other), mirrors.Mirrors())
    assert "not the file that was locked" in caught.value.what


@pytest.mark.parametrize("name", ["../../etc/passwd.txt", "/etc/passwd", "a\\b.txt", ".txt"])
def test_a_lock_cannot_name_a_file_elsewhere(name: str, tmp_path: Path) -> None:
    locked = lock.for_target(parse("2.6.5-cpu"))
    assert locked.python is not None
    other = msgspec.structs.replace(locked.python, file=name)
    with pytest.raises(TfenvError):
        plan.make(msgspec.structs.replace(locked, python=other), mirrors.Mirrors(), tmp_path)


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash on this machine")
@pytest.mark.parametrize("name", ["2.6.5-cuda", "1.15.5-cpu", "2.21.0-cuda"])
def test_the_shell_scripts_parse(name: str, tmp_path: Path) -> None:
    for path, text in made(name).items():
        if path.endswith(".sh"):
            script = tmp_path / path.replace("/", "-")
            script.write_text(text, encoding="utf-8")
            done = subprocess.run(
                ["bash", "-n", script], capture_output=True, text=True, check=False
            )
            assert done.returncode == 0, f"{path}: {done.stderr}"


@pytest.mark.parametrize(
    "name", ["1.15.5-cpu", "1.15.5-cuda", "2.6.5-cpu", "2.6.5-cuda", "2.21.0-cpu", "2.21.0-cuda"]
)
def test_the_headline_targets_render_somewhere(name: str) -> None:
    assert "docker/Dockerfile" in made(name)


@pytest.mark.parametrize("text", ["{{ nobody | plain }}", "{{ x", "{% include 'nowhere' %}"])
def test_a_bad_template_is_refused(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bad.j2").write_text(text, encoding="utf-8")
    monkeypatch.setattr(engine, "templates", lambda: tmp_path)
    engine.environment.cache_clear()
    engine._template.cache_clear()
    try:
        with pytest.raises(FileFormatError) as caught:
            engine.render("bad.j2", {"x": "1"})
    finally:
        engine.environment.cache_clear()
        engine._template.cache_clear()
    assert caught.value.exit_code == 2
    assert "bad.j2" in caught.value.what


def test_a_python_lock_with_an_option_for_pip_is_refused(tmp_path: Path) -> None:
    """A lock of one's own is a file that somebody may have edited, hash and all."""
    locked = lock.for_target(parse("2.6.5-cpu"))
    assert locked.python is not None
    text = "--index-url https://mirror.example/simple\nnumpy==1.19.5\n"
    (tmp_path / "mine.txt").write_text(text, encoding="utf-8")
    other = msgspec.structs.replace(
        locked.python, file="mine.txt", sha256=sha256_bytes(text.encode())
    )
    with pytest.raises(FileFormatError) as caught:
        plan.make(msgspec.structs.replace(locked, python=other), mirrors.Mirrors(), tmp_path)
    assert caught.value.exit_code == 2


def test_what_builds_tensorflow_never_brings_tensorflow() -> None:
    """Whatever its distribution is called on that platform."""
    for name in ("2.15.1-cpu-arm64", "2.9.1-cpu-arm64", "2.15.0-cpu-macos-arm64", "2.6.5-cuda"):
        ready = plan.make(lock.for_target(parse(name)), mirrors.Mirrors())
        distribution = re.split(r"[\[=]", ready.value("distribution"))[0]
        assert f"\n{distribution}==" in ready.requirements
        assert f"\n{distribution}==" not in ready.build_environment()
