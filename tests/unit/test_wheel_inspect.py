"""`tfenv inspect` on small wheels: each thing that can be wrong is said, and sets the exit code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.wheel_maker import CPU_BUILD_INFO, compile_library, fat_section, make_wheel
from tfenv.cli.inspect import command
from tfenv.errors import BadWheelError
from tfenv.wheel import runs_on
from tfenv.wheel.inspect import Inspection, inspect

BUILD_INFO = "tensorflow/python/platform/build_info.py"
GPU_BUILD_INFO = (
    "import collections\nbuild_info = collections.OrderedDict([('is_cuda_build', True), "
    "('cuda_version', '11.2'), ('cudnn_version', '8')])\n"
)


def codes(result: Inspection) -> set[str]:
    return {finding.code for finding in result.findings}


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return compile_library(
        tmp_path_factory.mktemp("plain"), '#include <cstdio>\nint f() { return puts("x"); }'
    )


@pytest.fixture(scope="module")
def gpu(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    folder = tmp_path_factory.mktemp("gpu")
    (folder / "fat.bin").write_bytes(fat_section({35: b"a", 70: b"b"}, {70: b"p"}))
    asm = 'asm(".section .nv_fatbin,\\"a\\"\\n.incbin \\"fat.bin\\"\\n.previous\\n");'
    return compile_library(folder, f"{asm}\nint f() {{ return 1; }}")


def test_a_right_wheel_has_no_findings(tmp_path: Path, plain: bytes) -> None:
    members = {"tensorflow/a.so": plain, BUILD_INFO: CPU_BUILD_INFO.encode()}
    result = inspect(make_wheel(tmp_path, members))
    assert result.findings == []
    assert result.ok
    assert result.record_ok
    assert result.cuda is None
    assert result.tags.claimed == ["linux_x86_64"]
    assert result.tags.real.startswith("manylinux_2_")
    assert result.runs_on.pythons == ["3.7"]
    assert "no GPU" in result.runs_on.sentence


def test_a_tag_that_the_libraries_break(tmp_path: Path) -> None:
    source = '#include <string>\nstd::string f(int x) { return std::to_string(x) + "!"; }'
    data = compile_library(tmp_path, source)
    path = make_wheel(tmp_path, {"tensorflow/a.so": data}, tag="cp37-cp37m-manylinux1_x86_64")
    result = inspect(path)
    assert not result.tags.honoured
    (found,) = result.findings
    assert found.code == "tag-broken"
    assert "tensorflow/a.so" in found.detail
    assert "GLIBCXX_" in found.detail


def test_gpu_code_and_who_can_run_it(tmp_path: Path, gpu: bytes) -> None:
    members = {"tensorflow/a.so": gpu, BUILD_INFO: GPU_BUILD_INFO.encode()}
    result = inspect(make_wheel(tmp_path, members, name="tensorflow"))
    assert result.cuda is not None
    assert result.cuda.sass == ["sm_35", "sm_70"]
    assert result.cuda.ptx == ["compute_70"]
    assert (result.cuda.version, result.cuda.cudnn) == ("11.2", "8")
    how = {support.capability: support.how for support in result.runs_on.gpus}
    assert how["3.5"] == "native"
    assert how["7.5"] == "native"
    assert how["8.6"] == "jit"
    assert "6.1" in result.runs_on.gpus_not
    assert result.runs_on.driver == "450.80.02"


@pytest.mark.parametrize(
    ("cuda", "cudnn", "said"),
    [
        ("11.2", "8", ("11.2", "8")),
        ("64_112", "64_8", ("11.2", "8")),  # as Windows builds have it
        ("64_90", "64_7", ("9.0", "7")),
        ("64_x", "", ("64_x", "")),
    ],
)
def test_versions_in_the_names_of_dlls(
    tmp_path: Path, gpu: bytes, cuda: str, cudnn: str, said: tuple[str, str]
) -> None:
    info = GPU_BUILD_INFO.replace("'11.2'", repr(cuda)).replace("'8'", repr(cudnn))
    result = inspect(make_wheel(tmp_path, {"tensorflow/a.so": gpu, BUILD_INFO: info.encode()}))
    assert result.cuda is not None
    assert (result.cuda.version, result.cuda.cudnn) == said


@pytest.mark.parametrize(
    ("cuda", "platform", "driver"),
    [
        ("11.2", "manylinux2014_x86_64", "450.80.02"),
        ("10", "manylinux2010_x86_64", "410.48"),
        ("9.0", "win_amd64", "385.54"),
        ("", "manylinux2014_x86_64", ""),
        ("99.1", "manylinux2014_x86_64", ""),
    ],
)
def test_the_oldest_driver(cuda: str, platform: str, driver: str) -> None:
    assert runs_on._driver(cuda, [platform]) == driver


@pytest.mark.parametrize(
    ("name", "info"), [("tensorflow_gpu", CPU_BUILD_INFO), ("tensorflow", GPU_BUILD_INFO)]
)
def test_a_gpu_wheel_without_gpu_code(tmp_path: Path, plain: bytes, name: str, info: str) -> None:
    members = {"tensorflow/a.so": plain, BUILD_INFO: info.encode()}
    result = inspect(make_wheel(tmp_path, members, name=name))
    assert codes(result) == {"cpu-build"}
    assert not result.ok


def test_a_wrong_record(tmp_path: Path) -> None:
    record = b"tensorflow/a.py,sha256=47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU,0\n"
    result = inspect(make_wheel(tmp_path, {"tensorflow/a.py": b"x = 1\n"}, record=record))
    assert codes(result) == {"record"}
    assert "tensorflow/a.py does not have the hash that RECORD gives" in result.record_faults
    assert not result.record_ok


def test_a_file_name_that_disagrees_with_its_contents(tmp_path: Path) -> None:
    path = make_wheel(tmp_path, {})
    other = path.rename(tmp_path / "tensorflow_cpu-2.0.0-cp37-cp37m-win_amd64.whl")
    assert codes(inspect(other)) == {"name", "tag-mismatch"}


def test_strays_rpaths_and_damaged_libraries(tmp_path: Path, plain: bytes) -> None:
    outside = compile_library(tmp_path / "r", "int f() { return 1; }", "-Wl,-rpath,/build/x")
    members = {
        "tensorflow/a.so": outside,
        "tensorflow/cut.so": plain[:200],
        "tensorflow/__pycache__/a.cpython-37.pyc": b"x",
        "tensorflow/unit.o": b"x",
    }
    result = inspect(make_wheel(tmp_path, members))
    assert codes(result) == {"rpath", "damaged-library", "stray"}
    assert sum(f.code == "stray" for f in result.findings) == 2
    assert not result.ok


def test_an_installed_environment_is_read_by_its_record(tmp_path: Path, plain: bytes) -> None:
    import zipfile

    wheel = make_wheel(tmp_path, {"tensorflow/a.so": plain, BUILD_INFO: CPU_BUILD_INFO.encode()})
    site = tmp_path / "env/lib/python3.7/site-packages"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    (site / "numpy").mkdir()
    (site / "numpy/core.so").write_bytes(plain)
    result = inspect(tmp_path / "env")
    assert (result.name, result.members, result.record_ok) == ("tensorflow-cpu", 5, True)
    (site / BUILD_INFO).write_text("changed = 1\n", "utf-8")
    assert not inspect(tmp_path / "env").record_ok


def test_what_is_no_wheel_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadWheelError):
        inspect(tmp_path / "missing.whl")
    (tmp_path / "text.whl").write_text("hello", "utf-8")
    with pytest.raises(BadWheelError):
        inspect(tmp_path / "text.whl")
    (tmp_path / "empty").mkdir()
    with pytest.raises(BadWheelError):
        inspect(tmp_path / "empty")


def test_the_command_prints_json_or_text(tmp_path: Path, plain: bytes) -> None:
    path = make_wheel(tmp_path, {"tensorflow/a.so": plain})
    done = CliRunner().invoke(command, [str(path), "--json"])
    assert done.exit_code == 0
    shape = json.loads(done.stdout)
    fields = "name version tags glibc glibcxx cxx11_abi needed isa_floor cuda record_ok runs_on"
    assert set(fields.split()) <= set(shape)
    text = CliRunner().invoke(command, [str(path)])
    assert "Runs on CPython 3.7" in text.stdout
    bad = make_wheel(tmp_path / "bad", {"tensorflow/a.py": b""}, record=b"x,,\n")
    assert CliRunner().invoke(command, [str(bad)]).exit_code == 1


def test_names_from_a_wheel_cannot_repaint_the_terminal(tmp_path: Path) -> None:
    path = make_wheel(tmp_path, {}, metadata="Requires-Python: \x1b[2J\n")
    text = CliRunner().invoke(command, [str(path)]).stdout
    assert "\x1b" not in text
