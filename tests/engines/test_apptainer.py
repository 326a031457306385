"""The Apptainer definitions: read section by section, and carried out as Apptainer would.

Apptainer itself is in no package archive that tests may use. What it does with a definition is
simple enough to be done here: copy the files, run %post with the image's sh, and start programs
under %environment by %runscript.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.engines import images
from tfenv import lock, toolchain
from tfenv.render import render
from tfenv.render.mirrors import Mirrors
from tfenv.render.plan import make
from tfenv.resources import suite
from tfenv.target import parse
from tfenv.toolchain.model import Choices

ROOT = Path(__file__).resolve().parents[2]
DEFINITIONS = sorted((ROOT / "environments").glob("*/docker/apptainer.def"))
SECTIONS = {"header", "files", "post", "environment", "runscript", "labels"}


def read(path: Path) -> dict[str, str]:
    """A definition's header and sections."""
    found = {"header": ""}
    name = "header"
    for line in path.read_text("utf-8").splitlines():
        section = re.fullmatch(r"%([a-z]+)", line)
        if section:
            name = section[1]
            assert name not in found, f"{path}: %{name} twice"
            found[name] = ""
        elif name != "header" or (line and not line.startswith("#")):
            found[name] += f"{line}\n"
    return found


def copies(sections: dict[str, str]) -> list[tuple[str, str]]:
    """What %files copies from where to where."""
    pairs = [line.split() for line in sections["files"].splitlines() if line.strip()]
    return [(source, place) for source, place in pairs]


def sh(script: str) -> subprocess.CompletedProcess[str]:
    shell = shutil.which("dash") or shutil.which("sh") or "sh"
    return subprocess.run([shell, "-n"], input=script, capture_output=True, text=True, check=False)


def problems(path: Path) -> list[str]:
    """What Apptainer could not make of a definition."""
    sections = read(path)
    found = [f"%{name}: there or not, wrongly" for name in sections.keys() ^ SECTIONS]
    if found:
        return found
    header = dict(line.split(": ", 1) for line in sections["header"].splitlines())
    if header.keys() != {"Bootstrap", "From"} or header["Bootstrap"] != "docker":
        found.append(f"header {header}")
    if not re.fullmatch(r"[a-z/]+@sha256:[0-9a-f]{64}", header["From"]):
        found.append(f"base {header['From']}")
    found += [
        f"{one} is not there" for one, _ in copies(sections) if not (path.parent / one).exists()
    ]
    for name in ("post", "environment", "runscript"):
        done = sh(sections[name])
        if done.returncode:
            found.append(f"%{name}: {done.stderr.strip()}")
    given = set(re.findall(r"/opt/tfenv/[a-z.]+\.(?:txt|sh|json)", sections["post"]))
    found += [f"{one} is not copied in" for one in given - {place for _, place in copies(sections)}]
    return found


@pytest.mark.parametrize("path", DEFINITIONS, ids=lambda path: str(path.parts[-3]))
def test_every_committed_definition_is_whole(path: Path) -> None:
    assert problems(path) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("%post", "%poste"),
        ("Bootstrap: docker", "Bootstrap: library"),
        ("@sha256:", ":latest@sha256:"),
        ("    fetch.sh /opt", "    fetsch.sh /opt"),
        ("    requirements.txt /opt/tfenv/requirements.txt\n", ""),
        ("    set -eu\n", "    set -eu; if true\n"),
    ],
)
def test_a_definition_with_a_mistake_is_found(old: str, new: str, tmp_path: Path) -> None:
    folder = tmp_path / "docker"
    shutil.copytree(ROOT / "environments" / "2.6.5-cuda" / "docker", folder)
    path = folder / "apptainer.def"
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    assert problems(path)


@pytest.mark.parametrize("path", DEFINITIONS, ids=lambda path: str(path.parts[-3]))
def test_another_reader_agrees(path: Path) -> None:
    """Singularity Python's own parser of definitions."""
    parsers = pytest.importorskip("spython.main.parse.parsers", reason="spython is not installed")
    recipe = parsers.SingularityParser(str(path)).recipe["spython-base"]
    sections = read(path)
    assert f"From: {recipe.fromHeader}" in sections["header"]
    assert [tuple(one.split()) for one in recipe.files] == copies(sections)
    assert code("\n".join(recipe.install)) == code(sections["post"])


def code(script: str) -> list[str]:
    """The lines that are no comments."""
    lines = (line.strip() for line in script.splitlines())
    return [line for line in lines if line and not line.startswith("#")]


@pytest.mark.docker
@pytest.mark.slow
@pytest.mark.tf
@pytest.mark.evidence
def test_the_definition_of_2_15_1_carried_out(tmp_path: Path) -> None:
    """On the local base: %post as root, then the suite under %environment, as a plain user."""
    buildah = images.engine()
    plan = make(
        lock.make(toolchain.choose(parse("2.15.1-cpu"), Choices(base="debian:12"))), Mirrors()
    )
    for file in render(plan, ("apptainer",), ("run",)):
        path = tmp_path / file.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(file.text, encoding="utf-8")
        path.chmod(0o755 if file.executable else 0o644)
    definition = tmp_path / "docker" / "apptainer.def"
    sections = read(definition)
    container = buildah.run("from", "--pull-never", images.BASE).stdout.split()[-1]
    isolated = ("run", "--isolation", "chroot", "--network", "host")
    try:
        for source, place in copies(sections):
            buildah.run("copy", container, definition.parent / source, place)
        buildah.run(*isolated, container, "--", "sh", "-c", sections["post"], timeout=1800)

        # A cluster's variables come in with the caller.
        start = f"export PYTHONPATH=/nowhere PYTHONHOME=/nowhere\n{sections['environment']}"
        program = 'import sys, tensorflow as tf; print("ran", tf.__version__, sys.argv[1:])'
        words = ("program", "-c", program, "one", "two words")
        says = buildah.run(
            *(*isolated, "--user", "1000:1000", container, "--"),
            *("sh", "-c", start + sections["runscript"], *words),
        ).stdout
        assert "ran 2.15.1 ['one', 'two words']" in says

        done = buildah.run(
            *(*isolated, "--user", "1000:1000", "-v", f"{suite()}:/suite:ro", container, "--"),
            *("sh", "-c", start + "tfenv-verify -n 2"),
            check=False,
        )
        assert '"status": "failed"' not in done.stdout, done.stdout[-4000:]
        assert done.stdout.count('"status": "passed"') >= 10, done.stdout[-4000:]
        assert done.returncode == 0
    finally:
        buildah.run("rm", container)
