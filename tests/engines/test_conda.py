"""conda environments, solved and installed for real by py-rattler from a channel on loopback."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.engines.channel import Channel, served
from tfenv.errors import ConflictError, DownloadError, HashMismatchError
from tfenv.lock.resolve_conda import VIRTUAL, CondaBuild, explicit, solve, solve_somewhere

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


DEAD = "http://127.0.0.1:9/conda-forge"


def test_a_mirror_that_does_not_answer_is_passed_over(url: str) -> None:
    places = [[DEAD], [url]]
    channels, builds = solve_somewhere(SPECS, places, "linux-64", {"__cuda": "11.4"})
    assert channels == [url]
    assert builds == solve(SPECS, [url], "linux-64", {"__cuda": "11.4"})


def test_the_mirror_is_taken_where_it_answers(url: str) -> None:
    places = [[url], [DEAD]]
    channels, _ = solve_somewhere(SPECS, places, "linux-64", {"__cuda": "11.4"})
    assert channels == [url]


def test_what_the_mirror_cannot_satisfy_is_not_looked_for_elsewhere(url: str) -> None:
    """It holds the same channel: another answer elsewhere would be another channel's."""
    with pytest.raises(ConflictError):
        solve_somewhere(["python 3.6.*"], [[url], [DEAD]], "linux-64", {})


def test_no_place_answers() -> None:
    with pytest.raises(DownloadError):
        solve_somewhere(SPECS, [[DEAD], [DEAD]], "linux-64", {})


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


# The command ----------------------------------------------------------------------------------------


def headline(folder: Path, subdir: str) -> None:
    """A channel with what the generated environments of 2.10.1 and 2.6.5 ask for, by name."""
    made = Channel(folder)
    for version in ("3.7.12", "3.9.18", "3.10.13", "3.10.20"):
        made.add("python", version, subdir=subdir)
    made.add("pip", "22.1", subdir="noarch")
    for name in ("git", "patch", "unzip", "zip", "bazelisk", "gcc_linux-64", "gxx_linux-64"):
        made.add(name, "7.5.0", subdir=subdir)
    for version in ("11.2.2", "11.3.1"):
        made.add("cudatoolkit", version, subdir=subdir, depends=["__cuda >=11.2"])
    for version in ("8.1.0.77", "8.2.1.32"):
        made.add("cudnn", version, subdir=subdir, depends=["cudatoolkit 11.*"])
    made.write_index()


def command(*arguments: str) -> tuple[int, dict[str, Any]]:
    done = subprocess.run(
        [sys.executable, "-m", "tfenv", "lock", *arguments, "--format", "conda", "--json"],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    return done.returncode, json.loads(done.stdout)


def test_lock_of_a_windows_target_is_solved_here(tmp_path: Path) -> None:
    headline(tmp_path / "channel", "win-64")
    with served(tmp_path / "channel") as url:
        code, document = command("2.10.1-cuda-windows", "--channel", url, "-o", str(tmp_path))
    assert code == 0, document
    assert document["subdir"] == "win-64"
    found = {b["name"]: b["version"] for b in document["environments"]["run"]}
    assert found["cudatoolkit"] == "11.2.2"
    assert found["cudnn"] == "8.1.0.77"
    text = (tmp_path / "2.10.1-cuda-windows" / "conda" / "conda-win-64.run.lock").read_text("utf-8")
    assert text.startswith("@EXPLICIT\n")
    assert all("#sha256:" in line for line in text.splitlines()[1:])


def test_generated_environment_is_solved_and_installed(tmp_path: Path) -> None:
    """What environment.run.yml of the committed 2.6.5-cuda names, really installed."""
    headline(tmp_path / "channel", "linux-64")
    environment = Path(__file__).parents[2] / "environments" / "2.6.5-cuda" / "conda"
    text = (environment / "environment.run.yml").read_text("utf-8")
    specs = re.findall(
        r'^  - "([a-z_0-9-]+(?:=[^"]+)?)"$', text.partition("dependencies:")[2], re.MULTILINE
    )
    assert any(spec.startswith("cudatoolkit=") for spec in specs)
    with served(tmp_path / "channel") as url:
        install(specs, url, tmp_path / "prefix", tmp_path / "cache")
    assert (tmp_path / "prefix" / "share" / "cudatoolkit.txt").exists()


def test_a_channel_without_the_build_ends_with_3(tmp_path: Path) -> None:
    made = Channel(tmp_path / "channel")
    made.add("python", "3.7.12")
    made.write_index("linux-64")
    with served(tmp_path / "channel") as url:
        code, document = command("2.6.5-cuda", "--channel", url)
    assert code == 3
    assert "No candidates were found" in document["error"]["why"]


def test_a_channel_that_is_no_address_ends_with_2() -> None:
    code, document = command("2.6.5-cuda", "--channel", "http://127.0.0.1/$(id)")
    assert code == 2
    assert document["error"]["kind"] == "unsafe-value"
