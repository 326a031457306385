"""Real Bazels build minitf: the whole way to a wheel, again, killed, and without a network."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.engines import bazel_builds as builds
from tests.unit.fetch_server import ok, serving

pytestmark = [
    pytest.mark.bazel,
    pytest.mark.tf,
    pytest.mark.slow,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Linux targets"),
]
TARGETS = ("1.15.5-cpu", "2.8.4-cpu")
PACKAGE = {"1.15.5-cpu": "tensorflow_core", "2.8.4-cpu": "tensorflow"}
KILLS = 20
SEED = 20


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Path]:
    """A folder for builds, whose Bazel servers end with the test."""
    yield tmp_path
    builds.stop_bazel(tmp_path)


@pytest.mark.parametrize("target", TARGETS)
def test_a_wheel_comes_out_and_again_nothing_is_done(place: Path, target: str) -> None:
    builds.need_bazel(target)
    code, first, said = builds.build(place, target)
    assert code == 0, said
    (wheel,) = first["files"]
    assert first["unchanged"] is False
    with zipfile.ZipFile(wheel) as pack:
        assert pack.testzip() is None
        assert f"{PACKAGE[target]}/core/user_ops/_minitf_ops.so" in pack.namelist()
    from tfenv.wheel.inspect import inspect

    seen = inspect(Path(wheel))
    assert (seen.version, seen.record_ok) == (target.partition("-")[0], True)
    # TensorFlow's build says linux_x86_64; the wheel has the tag that its libraries honour.
    assert seen.tags.real in seen.tags.claimed
    assert first["tag"] == f"{seen.tags.real}, which its libraries honour"
    runs = list((place / ".tfenv" / "runs" / target).iterdir())
    events = (runs[0] / "events.jsonl").read_text()
    assert '"exit_name": "SUCCESS"' in events
    code, second, said = builds.build(place, target)
    assert (code, second["unchanged"]) == (0, True)
    assert second["products"] == first["products"]
    assert len(list((place / ".tfenv" / "runs" / target).iterdir())) == 1
    # A lost product is put back without another compilation.
    Path(wheel).unlink()
    code, third, said = builds.build(place, target)
    assert (code, third["products"]) == (0, first["products"])
    assert "compile: unchanged" in said


@pytest.mark.evidence  # minutes of builds: `./noxw -s engines`
def test_killed_at_twenty_random_moments(
    place: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Half of the time tfenv alone is killed, half of the time with all that it started."""
    target = "1.15.5-cpu"
    builds.need_bazel(target)
    other = tmp_path_factory.mktemp("uninterrupted")
    code, expected, said = builds.build(other, target)
    builds.stop_bazel(other)
    assert code == 0, said
    dice = random.Random(SEED)
    kills = 0
    while kills < KILLS:
        process = subprocess.Popen(
            builds.command(target),
            cwd=place,
            env=builds.environment(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            process.wait(dice.uniform(0.3, 15))
        except subprocess.TimeoutExpired:
            kills += 1
            if dice.random() < 0.5:
                _kill_all(place)
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        else:
            assert process.returncode == 0
            shutil.rmtree(place / ".tfenv" / "dist")
            stamps = list(place.glob(".tfenv/work/*/stamps/*"))
            if stamps:
                dice.choice(sorted(stamps)).unlink()
    code, result, said = builds.build(place, target)
    assert code == 0, said
    assert result["products"] == expected["products"]


def _kill_all(place: Path) -> None:
    """Kill what runs build.sh below `place`, and its Bazel server."""
    for leader in place.glob(".tfenv/work/*/running.json"):
        with contextlib.suppress(ValueError, OSError):
            import json

            os.killpg(int(json.loads(leader.read_text())["pid"]), signal.SIGKILL)
    for note in place.glob(".tfenv/work/*/bazel/*/server/server.pid.txt"):
        with contextlib.suppress(ValueError, OSError):
            pid = int(note.read_text())
            if str(place) in Path(f"/proc/{pid}/cmdline").read_text():
                os.kill(pid, signal.SIGKILL)


NO_NETWORK = """
import fcntl, os, socket, struct, sys
# A new network namespace has no route, and its loopback interface is down. Bazel talks to its own
# server over loopback, so that one is brought up; nothing else can be reached.
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
    fcntl.ioctl(s, 0x8914, struct.pack("16sh14x", b"lo", 0x1 | 0x40))
os.execvp(sys.argv[1], sys.argv[1:])
"""


def no_network() -> list[str]:
    words = ["unshare", "-n", sys.executable, "-c", NO_NETWORK]
    if subprocess.run([*words, "true"], capture_output=True, check=False).returncode:
        pytest.skip("no network namespace can be made here (unshare -n)")
    return words


@pytest.fixture
def bare_minitf(tmp_path: Path) -> Path:
    """minitf without the archive that it carries."""
    copy = tmp_path / "minitf"
    shutil.copytree(builds.MINITF, copy)
    for version in ("1.15.5", "2.8.4"):
        shutil.rmtree(copy / version / "distdir")
    return copy


@pytest.mark.parametrize("target", TARGETS)
def test_without_a_network(place: Path, bare_minitf: Path, target: str) -> None:
    builds.need_bazel(target)
    alone = no_network()
    folder = builds.portable(place / "usb", target)
    work = place / "there"
    work.mkdir()
    more = ("--offline", "--from", str(folder))
    cache = str(place / "empty-cache")
    code, document, said = builds.build(
        work, target, *more, source=bare_minitf, before=alone, TFENV_CACHE=cache
    )
    builds.stop_bazel(work)
    assert code == 0, said
    assert document["files"]


@pytest.mark.parametrize("target", TARGETS)
def test_without_a_network_and_without_one_archive(
    place: Path, bare_minitf: Path, target: str
) -> None:
    builds.need_bazel(target)
    alone = no_network()
    folder = builds.portable(place / "usb", target, without="minitf_answer")
    work = place / "there"
    work.mkdir()
    more = ("--offline", "--from", str(folder))
    cache = str(place / "empty-cache")
    code, document, said = builds.build(
        work, target, *more, source=bare_minitf, before=alone, TFENV_CACHE=cache
    )
    builds.stop_bazel(work)
    assert code == 4, said
    assert "minitf_answer" in document["error"]["what"]


def test_without_a_network_and_without_a_folder(place: Path, bare_minitf: Path) -> None:
    target = "2.8.4-cpu"
    builds.need_bazel(target)
    code, document, said = builds.build(
        place, target, "--offline", source=bare_minitf, TFENV_CACHE=str(place / "empty-cache")
    )
    assert code == 4, said
    assert "numpy" in document["error"]["what"]


def test_bazels_own_downloads_go_through_the_mirror(place: Path, bare_minitf: Path) -> None:
    """The archive is nowhere but at the mirror, under `<host>/<path>` of its address."""
    target = "2.8.4-cpu"
    builds.need_bazel(target)
    folder = builds.portable(place / "usb", target, without="minitf_answer")
    archive = builds.MINITF / "shared" / "distdir" / "answer-1.0.tar.gz"
    with serving() as server:
        server.answers["/tf/127.0.0.1:38215/mirror/answer-1.0.tar.gz"] = ok(archive.read_bytes())
        more = ("--from", str(folder), "--mirror", f"tensorflow-externals={server.url('/tf')}")
        code, document, said = builds.build(
            place, target, *more, source=bare_minitf, TFENV_CACHE=str(place / "empty-cache")
        )
        asked = server.paths()
    assert code == 0, said
    assert document["files"]
    assert "/tf/127.0.0.1:38215/mirror/answer-1.0.tar.gz" in asked
