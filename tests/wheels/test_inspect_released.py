"""`tfenv inspect` on released wheels: what it says is what readelf and the wheels' makers say."""

from __future__ import annotations

import re
import shutil
import subprocess
import zipfile
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.wheels.wheel_files import CPU_2_6_5, Released, fetch
from tfenv.wheel.inspect import Inspection, inspect

pytestmark = [pytest.mark.tf, pytest.mark.slow]


class Expected(NamedTuple):
    """What is known of a wheel from elsewhere: build info, readelf, an import."""

    wheel: Released
    real_tag: str
    cxx11_abi: bool | None
    isa: str
    git: str
    sass: list[str]
    ptx: list[str]
    cuda: str
    members: int
    needs: set[str]


EXPECTED = [
    Expected(
        CPU_2_6_5, "manylinux_2_12_x86_64", False, "AVX", "v2.6.4-9-g6b54e9fa35d",
        [], [], "", 7675, {"libtensorflow_framework.so.2", "libstdc++.so.6"},
    ),
    Expected(
        Released(
            "tensorflow-1.15.5-cp37-cp37m-manylinux2010_x86_64.whl",
            "29831dda98d668067de75403b2fca0d06a2f026ef6f217fa2ca873c20b4ee4d3",
            "linux-x86_64",
        ),
        "manylinux_2_12_x86_64", False, "AVX", "v1.15.4-39-g3db52be",
        [], [], "", 4854, {"libtensorflow_framework.so.1"},
    ),
    Expected(
        Released(
            "tensorflow-2.6.5-cp37-cp37m-manylinux2010_x86_64.whl",
            "a3dcb2fa4feb70f745455bd0e4d63df22efa0761901e424be8fac6b068513045",
            "linux-x86_64",
        ),
        "manylinux_2_12_x86_64", False, "AVX", "v2.6.4-9-g6b54e9fa35d",
        ["sm_35", "sm_50", "sm_60", "sm_70", "sm_75", "sm_80"], ["compute_80"], "11.2",
        7927, {"libtensorflow_framework.so.2"},
    ),
    Expected(
        Released(
            "tensorflow-2.21.0-cp313-cp313-manylinux_2_27_x86_64.whl",
            "e9d8da8dcab9650efb45f032ba70af2f016f907e6e0c6bda29dd101bba945406",
            "linux-x86_64",
        ),
        "manylinux_2_27_x86_64", True, "AVX", "v2.21.0-rc1-5-ga481b10260d",
        ["sm_60", "sm_70", "sm_80", "sm_89", "sm_90"], ["compute_90"], "12.5.1",
        20678, {"libtensorflow_cc.so.2"},
    ),
    Expected(
        Released(
            "tensorflow-2.21.0-cp313-cp313-manylinux_2_27_aarch64.whl",
            "a10abdfb8b1189210c251021a3f153b7ccc52a8e6521351f3dc3331e8ba593e0",
            "linux-aarch64",
        ),
        "manylinux_2_27_aarch64", True, "NEON", "v2.21.0-rc1-5-ga481b10260d",
        [], [], "", 15177, {"libtensorflow_cc.so.2"},
    ),
    Expected(
        Released(
            "tensorflow-1.4.0-cp36-cp36m-win_amd64.whl",
            "1b1aa05701e75a2130e3f34ca51e5ac9ad105f40dd3f97970da7877601e3299f",
            "windows-x86_64",
        ),
        "", None, "SSE2", "", [], [], "", 3622, {"python36.dll", "MSVCP140.dll"},
    ),
    Expected(
        Released(
            "tensorflow-1.4.0-cp36-cp36m-macosx_10_11_x86_64.whl",
            "ff08e3f2bf81d229d5d2c2ab9b812ebf8ac30cff2738988cee410606590da097",
            "macos-x86_64",
        ),
        "", None, "SSSE3", "", [], [], "", 4590, {"@rpath/libtensorflow_framework.so"},
    ),
    Expected(
        Released(
            "tensorflow-2.16.2-cp312-cp312-manylinux_2_17_aarch64.manylinux2014_aarch64.whl",
            "e7df529f8db271d3def80538aa7fcd6f5abe306f7b01cb5b580138df68afb499",
            "linux-aarch64",
        ),
        "manylinux_2_17_aarch64", True, "NEON", "v2.16.1-19-g810f233968c",
        [], [], "", 11814, {"libtensorflow_cc.so.2"},
    ),
    Expected(
        Released(
            "tensorflow-2.16.2-cp312-cp312-macosx_12_0_arm64.whl",
            "917366179b596d0dae13e194a26965229b09fef946e4a5892a47fa9b4f7e4ba1",
            "macos-arm64",
        ),
        "", None, "NEON", "v2.16.1-19-g810f233968c",
        [], [], "", 9758, {"@rpath/libtensorflow_framework.2.dylib"},
    ),
    # Eigen's text in it says SSE2, where that of 1.15.5 for Windows says AVX.
    Expected(
        Released(
            "tensorflow_gpu-2.10.1-cp310-cp310-win_amd64.whl",
            "c2368a5ae22ea2e812fe81cd65488273b303fb27cb8edece74e7b7fbc21b0a83",
            "windows-x86_64",
        ),
        "", None, "SSE2", "v2.10.0-76-gfdfc646704c",
        ["sm_35", "sm_50", "sm_60", "sm_70", "sm_75", "sm_80"], ["compute_80"], "11.2",
        8682, {"VCRUNTIME140_1.dll"},
    ),
]  # fmt: skip


@pytest.mark.parametrize("expected", EXPECTED, ids=lambda e: e.wheel.file)
def test_what_it_says_is_so(tmp_path: Path, expected: Expected) -> None:
    path = fetch(expected.wheel, tmp_path)
    result = inspect(path)
    assert result.sha256 == expected.wheel.sha256
    # TensorFlow's macOS wheels of 2017 had their tag changed in WHEEL after RECORD was written.
    edited = "1.4.0" in path.name and "macosx" in path.name
    assert result.record_ok is not edited
    assert [finding.code for finding in result.findings] == (["record"] if edited else [])
    assert result.tags.honoured
    assert result.tags.real == expected.real_tag
    assert result.cxx11_abi is expected.cxx11_abi
    assert result.isa_floor == expected.isa
    if expected.git:
        assert result.git_version == expected.git
    assert result.members == expected.members
    assert expected.needs <= set(result.needed)
    assert (result.cuda.sass if result.cuda else []) == expected.sass
    assert (result.cuda.ptx if result.cuda else []) == expected.ptx
    assert (result.cuda.version if result.cuda else "") == expected.cuda
    assert result.version == expected.wheel.version
    _agrees_with_build_info(result)


def _agrees_with_build_info(result: Inspection) -> None:
    """Every architecture that build_info names is there; TensorFlow adds machine code to PTX."""
    named = result.build_info.get("cuda_compute_capabilities", [])
    assert isinstance(named, list)
    found = set(result.cuda.sass + result.cuda.ptx) if result.cuda else set()
    assert set(named) <= found


def test_readelf_says_the_same(tmp_path: Path) -> None:
    if shutil.which("readelf") is None:
        pytest.skip("needs readelf: apt-get install binutils")
    path = fetch(CPU_2_6_5, tmp_path)
    result = inspect(path)
    with zipfile.ZipFile(path) as archive:
        for item in result.libraries[:12]:
            file = Path(archive.extract(item.path, tmp_path / "x"))
            command = ["readelf", "-W", "-d", "-V", str(file)]
            said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
            assert item.needed == re.findall(r"NEEDED.*\[(.*)\]", said)
            versions = set(re.findall(r"Name: (\S+)  Flags", said))
            assert set(item.tag_versions) == versions


@pytest.mark.optional
def test_cuobjdump_says_the_same(tmp_path: Path) -> None:
    """On a wheel without sm_35, which today's cuobjdump refuses to read."""
    if shutil.which("cuobjdump") is None:
        pytest.skip("needs cuobjdump on PATH: pip install nvidia-cuda-cuobjdump")
    wheel = next(e.wheel for e in EXPECTED if "2.21.0" in e.wheel.file and "x86" in e.wheel.file)
    path = fetch(wheel, tmp_path)
    (found,) = [item for item in inspect(path).libraries if "libtensorflow_cc" in item.path]
    with zipfile.ZipFile(path) as archive:
        file = Path(archive.extract(found.path, tmp_path))
    said = subprocess.run(
        ["cuobjdump", "--list-elf", str(file)], capture_output=True, text=True, check=True
    ).stdout
    names = re.findall(r"\.(sm_\d+)\.cubin", said)
    assert set(names) == set(found.sass)
    assert len(names) == found.containers * len(found.sass)
