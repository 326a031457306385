"""The scripts for machines that we cannot run, and for this one: parsed, checked, started."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.engines.channel import served
from tfenv import lock, toolchain
from tfenv.errors import ConflictError
from tfenv.files import sha256_bytes
from tfenv.render import mirrors, render
from tfenv.render.plan import make
from tfenv.target import parse
from tfenv.toolchain.model import Choices

UNIX = ["1.15.5-cpu-macos-cc", "1.15.5-cpu-macos-lite", "2.6.5-cpu", "2.6.5-cuda"]
WINDOWS = [("1.4.0-cuda-windows", "8.0"), ("1.4.0-cuda-windows", "9.0"), ("2.0.4-cuda-windows", "")]


def script(target: str, folder: Path, **choices: str) -> Path:
    """The generated folder of the format script."""
    plan = make(lock.make(toolchain.choose(parse(target), Choices(**choices))), mirrors.Mirrors())
    for file in render(plan, ("script",), ("build",)):
        path = folder / file.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(file.text, encoding="utf-8")
    return folder / "script"


def errors(source: bytes, grammar: str) -> list[str]:
    """The places where a tree-sitter grammar cannot read the text."""
    tree_sitter = pytest.importorskip("tree_sitter")
    language = pytest.importorskip(f"tree_sitter_{grammar}")
    parser = tree_sitter.Parser(tree_sitter.Language(language.language()))
    found, rest = [], [parser.parse(source).root_node]
    while rest:
        node = rest.pop()
        rest += node.children
        if node.type == "ERROR" or node.is_missing:
            found.append(f"{node.start_point}: {source[node.start_byte : node.end_byte][:80]!r}")
    return found


@pytest.mark.parametrize(("target", "cuda"), WINDOWS)
def test_windows_scripts_parse(target: str, cuda: str, tmp_path: Path) -> None:
    folder = script(target, tmp_path, cuda=cuda)
    assert errors((folder / "build.ps1").read_bytes(), "powershell") == []
    assert errors((folder / "build.cmd").read_bytes(), "batch") == []


def hazards(text: str) -> list[str]:
    """What Windows PowerShell does otherwise than it reads.

    It drops double quotes inside an argument of a program (cmd.exe alone wants them), and a dry run
    may change nothing.
    """
    found = [
        f"a double quote in an argument: {line[:60]}"
        for line in text.splitlines()
        if re.match(r"\s*(Invoke-Step|& |\$python = & )", line)
        and "'cmd.exe'" not in line
        and any('"' in word for word in re.findall(r"'((?:[^']|'')*)'", line))
    ]
    before = text.partition("if ($DryRun) { exit 0 }")[0]
    changes = r"^(?:New-Item|Copy-Item|Move-Item|Remove-Item|Set-Location|git) .*"
    return found + [
        f"in a dry run: {one[:60]}" for one in re.findall(changes, before, re.MULTILINE)
    ]


@pytest.mark.parametrize(("target", "cuda"), WINDOWS)
def test_windows_scripts_have_no_known_hazard(target: str, cuda: str, tmp_path: Path) -> None:
    folder = script(target, tmp_path, cuda=cuda)
    text = (folder / "build.ps1").read_text("utf-8")
    assert "if ($DryRun) { exit 0 }" in text
    assert text.isascii()  # Windows PowerShell reads a file without a mark in its own code page
    assert hazards(text) == []


@pytest.mark.parametrize(
    "line",
    [
        """Invoke-Step $python @('-c', 'print("a")') 5""",
        """New-Item -ItemType Directory -Path $Work""",
    ],
)
def test_a_hazard_is_found(line: str) -> None:
    assert hazards(f"{line}\n")


def test_the_wheel_of_2_17_and_newer_is_taken_from_its_rule(tmp_path: Path) -> None:
    text = (script("2.18.1-cpu-windows", tmp_path) / "build.ps1").read_text("utf-8")
    assert "\\wheel_house" in text
    assert "build_pip_package.exe" not in text


def test_a_broken_script_does_not_parse() -> None:
    assert errors(b"if ($x { 'never closed' }\n", "powershell")


@pytest.mark.skipif(shutil.which("shellcheck") is None, reason="shellcheck is not installed")
@pytest.mark.parametrize("target", UNIX)
def test_shell_scripts_are_clean(target: str, tmp_path: Path) -> None:
    folder = script(target, tmp_path)
    done = subprocess.run(
        ["shellcheck", *folder.glob("*.sh")], stdout=subprocess.PIPE, text=True, check=False
    )
    assert done.stdout == ""


# The edits of 1.4 for CUDA 9 ----------------------------------------------------------------------

# Text of the same shape as the files that are edited, with each edited place once.
TREE = {
    "tensorflow/contrib/cmake/CMakeLists.txt": """\
    find_package(CUDA 8.0 REQUIRED)
    add_definitions(-DOUR=1 -DTF_EXTRA_CUDA_CAPABILITIES=3.0,3.5,5.2)
      "#define OUR_CUDA \\"64_80\\"\\n"
      "#define OUR_CUDNN \\"64_6\\"\\n"
      cudart_dll_name=cudart64_80.dll
      cuda_version_number=8.0
      cudnn_dll_name=cudnn64_6.dll
      cudnn_version_number=6)
""",
    "tensorflow/contrib/cmake/external/eigen.cmake": "set(eigen_URL x)\n    URL ${eigen_URL}\n",
    "tensorflow/stream_executor/cuda/cuda_dnn.cc": "  s = wrap::cudnnSetRNNDescriptor_v6(a, b);\n",
}


def write_tree(folder: Path, changed: Mapping[str, str] | None = None) -> None:
    for name, text in {**TREE, **(changed or {})}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())


def edit(folder: Path, tree: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, folder / "edit.py", folder / "edits.json", tree],
        capture_output=True,
        text=True,
        check=False,
    )


def test_edits_for_cuda_9(tmp_path: Path) -> None:
    folder = script("1.4.0-cuda-windows", tmp_path, cuda="9.0")
    write_tree(tmp_path / "tree")
    done = edit(folder, tmp_path / "tree")
    assert done.returncode == 0, done.stderr
    cmake = (tmp_path / "tree" / "tensorflow/contrib/cmake/CMakeLists.txt").read_text("utf-8")
    assert cmake == (
        "    find_package(CUDA 9.0 REQUIRED)\n"
        '    add_definitions(-DOUR=1 -D"TF_EXTRA_CUDA_CAPABILITIES=3.0,3.5,5.2")\n'
        '      "#define OUR_CUDA \\"64_90\\"\\n"\n'
        '      "#define OUR_CUDNN \\"64_7\\"\\n"\n'
        "      cudart_dll_name=cudart64_90.dll\n"
        "      cuda_version_number=9.0\n"
        "      cudnn_dll_name=cudnn64_7.dll\n"
        "      cudnn_version_number=7)\n"
    )
    eigen = tmp_path / "tree" / "tensorflow/contrib/cmake/external/eigen.cmake"
    assert "URL ${eigen_URL} URL_HASH SHA256=61d8b6fc" in eigen.read_text("utf-8")


def test_a_tree_that_was_edited_already_is_refused(tmp_path: Path) -> None:
    folder = script("1.4.0-cuda-windows", tmp_path, cuda="9.0")
    write_tree(tmp_path / "tree")
    assert edit(folder, tmp_path / "tree").returncode == 0
    again = edit(folder, tmp_path / "tree")
    assert again.returncode == 5
    assert again.stderr.splitlines()[0] == "error: the source is not the one that the edits are for"


def test_a_missing_text_leaves_every_file_as_it_was(tmp_path: Path) -> None:
    folder = script("1.4.0-cuda-windows", tmp_path, cuda="9.0")
    name = "tensorflow/stream_executor/cuda/cuda_dnn.cc"
    write_tree(tmp_path / "tree", {name: "  s = wrap::cudnnSetRNNDescriptor(a, b);\n"})
    done = edit(folder, tmp_path / "tree")
    assert done.returncode == 5
    assert name in done.stderr
    cmake = (tmp_path / "tree" / "tensorflow/contrib/cmake/CMakeLists.txt").read_text("utf-8")
    assert cmake == TREE["tensorflow/contrib/cmake/CMakeLists.txt"]


def test_cuda_8_needs_only_the_hash(tmp_path: Path) -> None:
    folder = script("1.4.0-cuda-windows", tmp_path, cuda="8.0")
    edits = json.loads((folder / "edits.json").read_text("utf-8"))
    assert [one["file"] for one in edits] == ["tensorflow/contrib/cmake/external/eigen.cmake"]


def test_windows_has_no_native(tmp_path: Path) -> None:
    with pytest.raises(ConflictError, match="Visual C"):
        script("2.0.4-cuda-windows", tmp_path, march="native")


# Started for real -----------------------------------------------------------------------------------

posix = pytest.mark.skipif(os.name == "nt", reason="bash scripts")


def programs(folder: Path, **answers: str) -> str:
    """A folder with stand-ins for programs: each runs a line of shell."""
    folder.mkdir()
    for name, answer in answers.items():
        path = folder / name.replace("_", "-")
        path.write_text(f"#!/bin/sh\n{answer}\n", encoding="utf-8")
        path.chmod(0o755)
    return str(folder)


MAC = {
    "uname": 'if [ "$1" = -s ]; then echo Darwin; else echo x86_64; fi',
    "xcode_select": "echo /Library/Developer/CommandLineTools",
    "xcodebuild": "echo Xcode 10.1",
    "clang": "exit 0",
    "automake": "exit 0",
    "git": "exit 0",
    "patch": "exit 0",
    "unzip": "exit 0",
    "zip": "exit 0",
    "shasum": 'shift 2; sha256sum "$@"',
    "python3.7": "echo 3.7",
}


def start(
    folder: Path, bin_folder: str, *options: str, **env: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", folder / "build-host.sh", *options],
        env={"PATH": f"{bin_folder}:/usr/bin:/bin", "HOME": str(folder), **env},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def jdk(folder: Path, version: str) -> str:
    folder.mkdir()
    programs(folder / "bin", javac=f"echo javac {version} >&2")
    return str(folder)


@posix
def test_macos_dry_run(tmp_path: Path) -> None:
    """The macOS script really runs, among stand-ins for Apple's programs."""
    folder = script("1.15.5-cpu-macos-cc", tmp_path)
    tools = programs(tmp_path / "bin", **MAC)
    work = str(tmp_path / "work")
    java = jdk(tmp_path / "jdk", "1.8.0_392")
    options = ("--dry-run", "--work", work, "--git-mirror", "https://git.example/")
    done = start(folder, tools, *options, JAVA_HOME=java)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    said = done.stdout
    for text in (
        f"+ bash {work}/downloads/bazel-0.26.1-installer-darwin-x86_64.sh --user",
        "+ git config --global url.https://git.example/.insteadOf https://github.com/",
        f"+ cp -fRP {work}/build/source/bazel-bin/tensorflow/libtensorflow_framework*.dylib",
        f"+ tar -czf {work}/out/1.15.5-cpu-macos-cc.tar.gz",
    ):
        assert text in said
    assert not Path(work).exists()
    assert "-framework CoreFoundation" in (folder / "tensorflow.cmake").read_text("utf-8")


@posix
def test_a_work_folder_by_a_relative_name(tmp_path: Path) -> None:
    folder = script("1.15.5-cpu-macos-lite", tmp_path)
    tools = programs(tmp_path / "bin", **MAC)
    java = jdk(tmp_path / "jdk", "1.8.0_392")
    done = start(folder, tools, "--dry-run", "--work", "here/work", JAVA_HOME=java)
    assert done.returncode == 0, done.stderr
    assert "+ mkdir -p /" in done.stdout
    assert not [line for line in done.stdout.splitlines() if " here/work" in line]


@posix
@pytest.mark.parametrize(
    ("broken", "says"),
    [
        ({"uname": "echo Linux"}, "is built on Darwin"),
        ({"xcode_select": "exit 2"}, "command line tools are missing"),
        ({"python3.7": "echo 3.6"}, "is not Python 3.7"),
        ({"python3.7": "exit 127"}, "is not Python 3.7"),
        ({"JDK": "11.0.2"}, "no JDK 8"),
    ],
)
def test_macos_says_what_is_missing(broken: dict[str, str], says: str, tmp_path: Path) -> None:
    folder = script("1.15.5-cpu-macos-lite", tmp_path)
    java = jdk(tmp_path / "jdk", broken.get("JDK", "1.8.0_392"))
    tools = programs(tmp_path / "bin", **{**MAC, **broken})
    done = start(folder, tools, "--dry-run", "--work", str(tmp_path / "work"), JAVA_HOME=java)
    assert done.returncode == 6
    what, why, fix = done.stderr.splitlines()
    assert says in what
    assert why.startswith("  why: ")
    assert fix.startswith("  fix: ")


@posix
def test_download_that_is_not_the_locked_one(tmp_path: Path) -> None:
    """The real download step: a wrong file is refused, the next place is tried, the right one kept."""
    folder = script("2.6.5-cpu", tmp_path)
    path = folder / "build-host.sh"
    good = b"the source"
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "bad").write_bytes(b"something else")
    (tmp_path / "files" / "good").write_bytes(good)
    tools = programs(tmp_path / "bin", **{"python3.7": "echo 3.7", "patch": "exit 0", **ZIP})
    with served(tmp_path / "files") as address:
        text = path.read_text("utf-8")
        url = "https://github.com/tensorflow/tensorflow/archive/v2.6.5.tar.gz"
        digest = "305da42845ac584a42494e521c92a88ce92ee47d93022d4c0bb45180b5c19a8c"
        text = text.replace(url, f"{address}/bad {address}/good")
        right = text.replace(digest, sha256_bytes(good))
        (folder / "right.sh").write_text(right.split("\nfetch ", 2)[0] + first_fetch(right))
        (folder / "wrong.sh").write_text(text.split("\nfetch ", 2)[0] + first_fetch(text))
        done = run_part(folder / "right.sh", tools, tmp_path / "work")
        assert done.returncode == 0, done.stderr
        assert "/bad is not the file that was locked" in done.stderr
        assert (tmp_path / "work" / "downloads" / "tensorflow.tar.gz").read_bytes() == good

        done = run_part(folder / "wrong.sh", tools, tmp_path / "other")
        assert done.returncode == 4
        assert done.stderr.splitlines()[-3] == "error: tensorflow.tar.gz could not be had"


ZIP = {"zip": "exit 0", "unzip": "exit 0"}


def first_fetch(text: str) -> str:
    """The first download of a script, after the functions that it needs."""
    return "\nfetch " + text.split("\nfetch ", 2)[1] + "\n"


def run_part(path: Path, tools: str, work: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", path, "--work", str(work)],
        env={"PATH": f"{tools}:/usr/bin:/bin", "no_proxy": "127.0.0.1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


@posix
def test_native_flags_are_written_down(tmp_path: Path) -> None:
    """--march native: what this machine's compiler makes of it stands beside the product."""
    folder = script("2.6.5-cpu", tmp_path, march="native")
    if shutil.which("gcc") is None:
        pytest.skip("gcc is not installed")
    found = collected(folder, tmp_path / "out", "gcc")
    assert found == sorted(found)
    flags = Path("/proc/cpuinfo")
    if os.uname().machine == "x86_64" and flags.exists():
        words = set(flags.read_text("utf-8").split())
        for name, flag in (("SSE4.1", "sse4_1"), ("SSE4.2", "sse4_2"), ("AVX", "avx")):
            assert (name in found) == (flag in words)


@posix
def test_named_processor_is_written_down_too(tmp_path: Path) -> None:
    """With the compiler that CC names, as in an image or a Nix shell."""
    if shutil.which("gcc") is None or os.uname().machine != "x86_64":
        pytest.skip("this needs gcc for x86_64")
    folder = script("2.6.5-cpu", tmp_path, march="sandybridge")
    found = collected(folder, tmp_path / "out", "gcc")
    assert {"SSE4.1", "SSE4.2", "AVX"} <= set(found)
    assert not {"AVX2", "FMA"} & set(found)


def collected(folder: Path, out: Path, compiler: str) -> list[str]:
    """What the step `collect` of build.sh writes of the processor."""
    text = (folder / "build.sh").read_text("utf-8")
    part = text[text.index("\nfeatures() {") : text.index("\norder=")]
    product = out.parent / "product"
    for made in (out, product):
        made.mkdir()
    (product / "a.whl").touch()
    head = f"set -euo pipefail\nout='{out}'\nproduct='{product}'\nwork=\n"
    (folder / "part.sh").write_text(f"{head}{part}\ncollect\n", encoding="utf-8")
    subprocess.run(["bash", folder / "part.sh"], check=True, env={**os.environ, "CC": compiler})
    assert (out / "a.whl").exists()
    return (out / "cpu-features.txt").read_text("utf-8").split()
