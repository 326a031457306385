"""Two builds of one target in varied surroundings, with a build of a few lines."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.wheel_maker import make_wheel
from tfenv.audit import rebuild
from tfenv.audit.compare import audit
from tfenv.cli.audit import command
from tfenv.errors import BuildError, DownloadError

# Makes a wheel that carries what its surroundings were; argv: target, then options.
BUILD = """
import os, sys, time, zipfile, hashlib, base64
from pathlib import Path
target, options = sys.argv[1], sys.argv[2:]
if "--fail" in options:
    sys.exit(5)
dist = Path(".tfenv/dist", target)
dist.mkdir(parents=True)
if "--nothing" in options:
    sys.exit(0)
members = {"pkg/a.py": b"x = 1\\n"}
if "--sloppy" in options:
    members["pkg/built.txt"] = f"{time.strftime('%Y-%m-%d %H:%M:%S')} in {os.getcwd()}/a.c\\n".encode()
if "--broken" in options:
    members["pkg/jobs.txt"] = f"{os.environ['TZ']}\\n".encode()
if "--source" in options:
    members["pkg/src.py"] = Path(options[options.index("--source") + 1], "src.py").read_bytes()
info = "pkg-1.0.dist-info"
members[f"{info}/METADATA"] = b"Name: pkg\\nVersion: 1.0\\n"
members[f"{info}/WHEEL"] = b"Wheel-Version: 1.0\\nTag: py3-none-any\\n"
lines = []
for path, data in members.items():
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    lines.append(f"{path},sha256={digest},{len(data)}\\n")
members[f"{info}/RECORD"] = ("".join(lines) + f"{info}/RECORD,,\\n").encode()
Path("probe").write_text("")
mode = os.stat("probe").st_mode
with zipfile.ZipFile(dist / "pkg-1.0-py3-none-any.whl", "w") as archive:
    for path, data in members.items():
        item = zipfile.ZipInfo(path, (2020, 1, 1, 0, 0, 0))
        item.external_attr = mode << 16
        archive.writestr(item, data)
"""


def build(tmp_path: Path, *options: str) -> tuple[Path, Path]:
    script = tmp_path / "build.py"
    script.write_text(BUILD, "utf-8")
    said: list[str] = []
    return rebuild.twice(
        "t", options, tmp_path / "work", said.append, [sys.executable, str(script)]
    )


@pytest.mark.skipif(os.name != "posix", reason="Windows has no umask")
def test_a_careful_build_is_equivalent_after_modes(tmp_path: Path) -> None:
    one, two = build(tmp_path)
    assert one.parents[3] != two.parents[3]
    result = audit(one, two)
    assert (result.verdict, result.normalisers) == ("equivalent", ["zip-mode"])


def test_dates_and_folders_are_found_and_named(tmp_path: Path) -> None:
    result = audit(*build(tmp_path, "--sloppy"))
    assert result.verdict == "equivalent"
    assert {"build-timestamp", "embedded-path"} <= set(result.normalisers)


def test_what_no_normaliser_explains_is_different(tmp_path: Path) -> None:
    result = audit(*build(tmp_path, "--broken"))
    (found,) = result.differences
    assert found.path == "pkg/jobs.txt"
    assert "Kiritimati" in found.detail


def test_options_that_name_files_hold_in_both_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree/src.py").write_text("y = 2\n", "utf-8")
    monkeypatch.chdir(tmp_path)
    assert audit(*build(tmp_path, "--source", "tree")).verdict != "different"


def test_only_values_of_path_options_become_absolute(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "host").mkdir()
    given = ["--engine", "host", "--source", "tree", "--from=x", "--jobs", "2"]
    assert rebuild.absolute(given) == [
        "--engine", "host", "--source", str(tmp_path / "tree"), f"--from={tmp_path / 'x'}",
        "--jobs", "2",
    ]  # fmt: skip


@pytest.mark.parametrize("option", ["--fail", "--nothing"])
def test_a_build_that_fails_ends_the_audit(tmp_path: Path, option: str) -> None:
    with pytest.raises(BuildError):
        build(tmp_path, option)


def test_what_is_varied_is_said(tmp_path: Path) -> None:
    assert {"folder", "umask", "time zone"} <= set(rebuild.varied())
    assert set(rebuild.varied("docker")) == {"time", "host name"}
    said: list[str] = []
    script = tmp_path / "build.py"
    script.write_text(BUILD, "utf-8")
    call = [sys.executable, str(script)]
    rebuild.twice("t", ["--engine=docker"], tmp_path / "work", said.append, call)
    assert "engine: docker" in said[0]
    assert "folder" in said[0].partition("not varied")[2]


@pytest.mark.parametrize(
    ("options", "engine"),
    [([], "host"), (["--engine", "nix"], "nix"), (["--jobs", "1", "--engine=docker"], "docker")],
)
def test_the_engine_is_the_host_unless_named(options: list[str], engine: str) -> None:
    assert rebuild.engine_of(options) == engine


def test_the_host_name_is_varied_where_that_is_permitted(tmp_path: Path) -> None:
    script = tmp_path / "build.py"
    script.write_text(BUILD.replace("os.environ['TZ']", "os.uname().nodename"), "utf-8")
    call = [sys.executable, str(script)]
    result = audit(*rebuild.twice("t", ["--broken"], tmp_path / "work", lambda _: None, call))
    found = [d for d in result.differences if "another-host" in d.detail]
    assert bool(found) == ("host name" in rebuild.varied())


@pytest.mark.parametrize("there", [True, False])
def test_the_published_wheel_is_told_and_decides_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, there: bool
) -> None:
    script = tmp_path / "build.py"
    script.write_text(BUILD, "utf-8")
    monkeypatch.setattr(rebuild, "default_command", lambda: [sys.executable, str(script)])
    published = make_wheel(
        tmp_path / "released", {"pkg/a.py": b"x = 2\n"}, name="pkg", version="1.0"
    )

    def fetch(target: str, _: Path) -> Path:
        assert target == "1.15.5-cpu"
        if not there:
            raise DownloadError("it did not come", "no network", "try again")
        return published

    monkeypatch.setattr("tfenv.audit.released.fetch", fetch)
    monkeypatch.chdir(tmp_path)
    page = tmp_path / "page.html"
    words = ["--twice", "1.15.5-cpu", "--released", "--html", str(page)]
    done = CliRunner().invoke(command, [*words, "--json"])
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert found["verdict"] in ("identical", "equivalent")
    if there:
        assert found["released"]["verdict"] == "different"
        assert "pkg/a.py" in {d["path"] for d in found["released"]["differences"]}
        shown = CliRunner().invoke(command, words).stdout
        assert "against the published wheel" in shown
        assert shown.index("published") < shown.index("python-line: pkg/a.py")
        assert "published wheel" in page.read_text("utf-8")
    else:
        assert found["released"] is None
        assert "no network" in done.stderr
