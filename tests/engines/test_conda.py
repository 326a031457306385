"""conda environments, solved and installed for real by py-rattler from a channel on loopback."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.engines.channel import Channel, served
from tfenv.errors import ConflictError, DownloadError, HashMismatchError
from tfenv.lock.resolve_conda import VIRTUAL, CondaBuild, explicit, solve

rattler = pytest.importorskip("rattler", reason="py-rattler is not installed")

SPECS = ["python 3.7.*", "cudatoolkit 11.2.*", "cudnn 8.1.*"]


def channel(folder: Path) -> Channel:
    """Python, CUDA and cuDNN in name: enough to be solved, small enough to be read."""
    made = Channel(folder)
    for subdir in ("linux-64", "win-64", "osx-64"):
        made.add("python", "3.7.12", subdir=subdir)
        made.add("python", "3.8.12", subdir=subdir)
    for subdir in ("linux-64", "win-64"):
        made.add("cudatoolkit", "11.2.2", subdir=subdir, depends=["__cuda >=11.2"])
        made.add("cudnn", "8.1.0.77", subdir=subdir, depends=["cudatoolkit 11.*"])
        made.add("cudnn", "8.4.1.50", subdir=subdir, depends=["cudatoolkit 11.*"])
    made.add("numpy", "1.19.5", depends=["__glibc >=2.17", "python 3.7.*"])
    made.write_index("osx-arm64", "linux-aarch64")
    return made


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    channel(tmp_path / "channel")
    with served(tmp_path / "channel") as address:
        yield address


def install(builds_for: list[str], url: str, prefix: Path, cache: Path) -> None:
    """What a user's micromamba does with the environment."""

    async def run() -> None:
        records = await rattler.solve(
            sources=[rattler.Channel(url)],
            specs=builds_for,
            platforms=["linux-64", "noarch"],
            virtual_packages=[
                rattler.GenericVirtualPackage(
                    rattler.PackageName(name), rattler.Version(version), rattler.BuildString("0")
                )
                for name, version in {**VIRTUAL["linux-64"], "__cuda": "11.4"}.items()
            ],
        )
        await rattler.install(records, prefix, cache_dir=cache, show_progress=False)

    asyncio.run(run())


def test_solved_builds_carry_url_and_hashes(url: str, tmp_path: Path) -> None:
    builds = solve(SPECS, [url], "linux-64", {"__cuda": "11.4"})
    assert [(one.name, one.version) for one in builds] == [
        ("cudatoolkit", "11.2.2"),
        ("cudnn", "8.1.0.77"),
        ("python", "3.7.12"),
    ]
    for one in builds:
        file = tmp_path / "channel" / one.subdir / one.url.rpartition("/")[2]
        assert file.stat().st_size == one.size
        assert len(one.sha256) == 64
    lines = explicit(builds).splitlines()
    assert lines[0] == "@EXPLICIT"
    assert lines[1] == f"{builds[0].url}#sha256:{builds[0].sha256}"


def test_the_same_twice(url: str) -> None:
    first = solve(SPECS, [url], "linux-64", {"__cuda": "11.4"})
    assert solve(SPECS, [url], "linux-64", {"__cuda": "11.4"}) == first


@pytest.mark.parametrize("subdir", ["win-64", "osx-64"])
def test_other_systems_are_solved_here(url: str, subdir: str) -> None:
    specs = SPECS if subdir == "win-64" else SPECS[:1]
    builds = solve(specs, [url], subdir, {"__cuda": "11.4"})
    assert {one.subdir for one in builds} == {subdir}


def test_no_driver_no_cuda(url: str) -> None:
    with pytest.raises(ConflictError, match="linux-64") as caught:
        solve(SPECS, [url], "linux-64", {})
    assert "__cuda" in caught.value.why
    assert caught.value.exit_code == 3


def test_an_old_driver_is_told(url: str) -> None:
    with pytest.raises(ConflictError) as caught:
        solve(SPECS, [url], "linux-64", {"__cuda": "11.0"})
    assert "__cuda >=11.2" in caught.value.why


def test_a_version_that_is_not_there_is_named(url: str) -> None:
    with pytest.raises(ConflictError) as caught:
        solve(["python 3.6.*"], [url], "linux-64", {})
    assert "python" in caught.value.why
    assert "3.6" in caught.value.why


def test_glibc_of_the_machine_counts(url: str) -> None:
    assert solve(["numpy"], [url], "linux-64", {})
    with pytest.raises(ConflictError) as caught:
        solve(["numpy"], [url], "linux-64", {"__glibc": "2.12"})
    assert "__glibc" in caught.value.why


def test_a_channel_that_is_not_there() -> None:
    with pytest.raises(DownloadError) as caught:
        solve(SPECS, ["http://127.0.0.1:9/nothing"], "linux-64", {})
    assert caught.value.exit_code == 4


def test_installed_for_real(url: str, tmp_path: Path) -> None:
    install(SPECS, url, tmp_path / "prefix", tmp_path / "cache")
    assert (tmp_path / "prefix" / "share" / "cudnn.txt").read_text("utf-8") == "8.1.0.77"


def test_tampered_package_is_refused_over_http(url: str, tmp_path: Path) -> None:
    tamper(tmp_path)
    with pytest.raises(Exception, match=r"hash mismatch|does not match"):
        install(SPECS, url, tmp_path / "prefix", tmp_path / "cache")
    assert not (tmp_path / "prefix" / "share" / "cudnn.txt").exists()


def test_tampered_package_is_refused_from_a_folder(tmp_path: Path) -> None:
    """py-rattler itself takes it: the check is ours."""
    channel(tmp_path / "channel")
    url = (tmp_path / "channel").as_uri()
    assert solve(SPECS, [url], "linux-64", {"__cuda": "11.4"})
    tamper(tmp_path)
    with pytest.raises(HashMismatchError, match=r"cudnn-8\.1\.0\.77-0\.tar\.bz2"):
        solve(SPECS, [url], "linux-64", {"__cuda": "11.4"})


def tamper(tmp_path: Path) -> None:
    """Put another, well-formed package in the place of cuDNN."""
    other = Channel(tmp_path / "other")
    other.add("cudnn", "8.1.0.77", files={"share/cudnn.txt": "not cuDNN"})
    name = "linux-64/cudnn-8.1.0.77-0.tar.bz2"
    (tmp_path / "channel" / name).write_bytes((tmp_path / "other" / name).read_bytes())


def test_explicit_lock_of_a_build_without_hash() -> None:
    plain = CondaBuild(
        name="a", version="1", build="0", subdir="noarch", url="http://127.0.0.1/a", sha256=""
    )
    assert explicit([plain]) == "@EXPLICIT\nhttp://127.0.0.1/a\n"
