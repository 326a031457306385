"""METADATA, RECORD and build_info.py are read as data, whatever stands in them."""

from __future__ import annotations

import contextlib
import csv
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.wheel_maker import make_wheel
from tfenv.errors import BadWheelError
from tfenv.wheel import contents
from tfenv.wheel.archive import ZipTree
from tfenv.wheel.entry import Entry
from tfenv.wheel.folder import FolderTree

OLD = "from __future__ import print_function\nis_cuda_build = True\ncuda_version_number = '10.1'\n"
NEW = (
    "import collections\nbuild_info = collections.OrderedDict([('is_cuda_build', True), "
    "('cuda_version', '11.2'), ('cuda_compute_capabilities', ['sm_35', 'compute_80'])])\n"
)


def test_build_info_of_both_generations() -> None:
    assert contents.build_info(OLD) == {"is_cuda_build": True, "cuda_version_number": "10.1"}
    found = contents.build_info(NEW)
    assert found["cuda_compute_capabilities"] == ["sm_35", "compute_80"]
    assert found["cuda_version"] == "11.2"


def test_build_info_is_never_run(tmp_path: Path) -> None:
    trap = tmp_path / "ran"
    source = f"is_cuda_build = open({str(trap)!r}, 'w')\nbuild_info = [].append(1)\nok = 1\n"
    assert contents.build_info(source) == {"ok": 1}
    assert not trap.exists()


@pytest.mark.parametrize("source", ["def", "(" * 5000, "x = " + "-" * 50_000 + "1", "x\0y"])
def test_what_is_no_python_is_refused(source: str) -> None:
    with pytest.raises(ValueError, match="not Python"):
        contents.build_info(source)


@given(st.text(max_size=300))
def test_any_text_is_read_or_refused(source: str) -> None:
    with contextlib.suppress(ValueError):
        contents.build_info(source)
    with contextlib.suppress(ValueError, csv.Error):
        contents.parse_record(source)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a,sha256=x\n", "2 columns"),
        ("a,,\na,,\n", "twice"),
        ("a,md5=AAAA,1\n", "not a sha256"),
        ("a,sha256=AAAA,1\n", "not a sha256"),
        ("a,,-5\n", "the size"),
    ],
)
def test_a_damaged_record_is_refused(text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        contents.parse_record(text)


def test_record_faults_name_each_kind() -> None:
    entries = {name: Entry(name, 3, 0) for name in ("good", "bad", "size", "extra", "bare")}
    lines = {
        "good": contents.RecordLine("aa", 3),
        "bad": contents.RecordLine("aa", 3),
        "size": contents.RecordLine("aa", 4),
        "bare": contents.RecordLine("", -1),
        "gone": contents.RecordLine("aa", 1),
        "../../../bin/tool": contents.RecordLine("aa", 1),
    }
    digests = dict.fromkeys(entries, "aa") | {"bad": "bb"}
    assert contents.record_faults(entries, lines, digests) == [
        "RECORD gives no hash for bare",
        "bad does not have the hash that RECORD gives",
        "extra is not in RECORD",
        "gone is in RECORD and not there",
        "size does not have the size that RECORD gives",
    ]


def test_metadata_of_a_wheel_and_of_an_environment(tmp_path: Path) -> None:
    tree = ZipTree(make_wheel(tmp_path, {}, metadata="Requires-Dist: numpy (~=1.19.2)\n"))
    about = contents.metadata(tree)
    tree.close()
    assert about is not None
    assert (about.name, about.version, about.requires) == (
        "tensorflow-cpu",
        "1.0.0",
        ("numpy (~=1.19.2)",),
    )
    assert about.tags == ("cp37-cp37m-linux_x86_64",)
    site = tmp_path / "env/lib/python3.7/site-packages"
    for name in ("absl_py-1.0", "tensorflow_estimator-2.6.0", "tensorflow-2.6.5"):
        folder = site / f"{name}.dist-info"
        folder.mkdir(parents=True)
        stem, version = name.split("-")
        (folder / "METADATA").write_text(f"Name: {stem}\nVersion: {version}\n", "utf-8")
    found = contents.metadata(FolderTree(tmp_path / "env"))
    assert found is not None
    assert (found.name, found.version) == ("tensorflow", "2.6.5")


def test_metadata_without_a_version_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "x-1.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Name: x\n", "utf-8")
    with pytest.raises(BadWheelError):
        contents.metadata(FolderTree(tmp_path))


def test_old_wheels_keep_everything_under_data() -> None:
    path = "tensorflow-1.4.0.data/purelib/tensorflow/python/platform/build_info.py"
    assert contents.BUILD_INFO.fullmatch(contents.installed_path(path))
    assert not contents.BUILD_INFO.fullmatch(f"numpy/{contents.installed_path(path)}")
