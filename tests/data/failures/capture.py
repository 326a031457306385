"""Run the failures of cases.toml and keep what they print, anonymised, in logs/NAME.toml.

    python tests/data/failures/capture.py [NAME…]

Each script runs in its own empty folder under the temporary folder. Nothing is installed outside
of it; a case whose programs are missing is left out.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import tomli

from tfenv.diagnose import anonymise, lines
from tfenv.diagnose.newcase import quoted
from tfenv.files import write_text

HERE = Path(__file__).parent
PYTHONS = ("3.6", "3.7", "3.8", "3.9", "3.10", "3.11", "3.12", "3.13")
LIMIT = 400  # lines that are kept of an output


def programs() -> dict[str, str]:
    """The variables that scripts may use, as far as the programs are there."""
    found: dict[str, str] = {}
    for version in PYTHONS:
        path = _pyenv(version) or shutil.which(f"python{version}")
        if path:
            found[f"PY{version.replace('.', '')}"] = path
    for name, commands in (("UV", ("uv",)), ("NVCC", ("nvcc",)), ("BAZEL4", ("bazel",))):
        for command in commands:
            path = os.environ.get(name) or shutil.which(command)
            if path:
                found[name] = path
    if os.environ.get("BAZEL"):
        found["BAZEL"] = os.environ["BAZEL"]
    return found


def _pyenv(version: str) -> str | None:
    root = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    paths = sorted(root.glob(f"{version}.*/bin/python{version}"))
    return str(paths[-1]) if paths else None


def missing(case: dict[str, Any], known: dict[str, str]) -> list[str]:
    """The programs that a case needs and that are not here."""
    wanted = case.get("needs", [])
    return [n for n in wanted if not (known.get(n[1:]) if n.startswith("$") else shutil.which(n))]


def run(case: dict[str, Any], known: dict[str, str]) -> str:
    """The output of one case."""
    with tempfile.TemporaryDirectory(prefix="tfenv-failure-") as folder:
        env = {**os.environ, **known, "LC_ALL": "C.UTF-8", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
        env.pop("VIRTUAL_ENV", None)
        done = subprocess.run(
            ["bash", "-c", case["script"]],
            cwd=folder,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=900,
            check=False,
        )
        text = done.stdout.decode("utf-8", "surrogateescape")
    return _cleaned(text, folder, known)


def _cleaned(text: str, folder: str, known: dict[str, str]) -> str:
    """Without names, scratch folders and the places of programs on this machine."""
    text = text.replace(folder, "/work").replace(folder.removeprefix("/"), "work")
    text = re.sub(r"/[^\s:'\"]*/\.pyenv/versions/", "/opt/python/", text)
    for name, path in known.items():
        text = text.replace(str(Path(path).parent), f"/opt/{name.lower()}/bin")
    text = re.sub(
        r"https?://(?!127\.0\.0\.1|localhost|github\.com|mirror\.bazel\.build)[\w.-]+",
        "https://index",
        text,
    )
    text = re.sub(r"host='(?!127)[\w.-]+'", "host='index'", text)
    return anonymise.clean(text)


def render(case: dict[str, Any], output: str) -> str:
    """The file of one case."""
    kept = [lines.decode(line.encode("utf-8", "surrogateescape")) for line in output.split("\n")]
    if len(kept) > LIMIT:
        kept = [*kept[: LIMIT // 2], *kept[-LIMIT // 2 :]]
    body = "".join(f"  {quoted(line)},\n" for line in kept)
    return (
        f"# Made by capture.py; the script stands in cases.toml.\n"
        f"expect = {quoted(case['expect'])}\nlog = [\n{body}]\n"
    )


def main(names: list[str]) -> None:
    """Capture the named cases, or all."""
    known = programs()
    for case in tomli.loads((HERE / "cases.toml").read_text("utf-8"))["case"]:
        if names and case["name"] not in names:
            continue
        lacking = missing(case, known)
        if lacking:
            print(f"left out  {case['name']}: no {', '.join(lacking)}")  # noqa: T201
            continue
        output = run(case, known)
        write_text(HERE / "logs" / f"{case['name']}.toml", render(case, output))
        print(f"captured  {case['name']}: {len(output.splitlines())} lines", flush=True)  # noqa: T201


if __name__ == "__main__":
    main(sys.argv[1:])
