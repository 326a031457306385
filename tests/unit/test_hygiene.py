"""What no file of the repository may contain."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

# Written in pieces, so that this file may be checked as well.
REGISTRIES = [
    ".".join(parts)
    for parts in (
        ("pypi", "org"),
        ("files", "pythonhosted", "org"),
        ("registry", "npmjs", "org"),
        ("deb", "debian", "org"),
    )
]
FORBIDDEN = {
    "the host of a package registry": re.compile("|".join(map(re.escape, REGISTRIES))),
    "a path of one person's machine": re.compile(
        r"(?<![\w.$}-])/(?:root/\.pyenv|work/(?:main|shared|\.library|\.mirror)|tmp/team)"
    ),
    "a merge conflict": re.compile(r"^(?:<{7} |>{7} |={7}$)", re.MULTILINE),
    "a carriage return": re.compile(r"\r"),
    "a tab or blank at the end of a line": re.compile(r"[ \t]$", re.MULTILINE),
}
# Python and Markdown are read by people; tables, data and generated text may end as they like.
STYLED = {".py", ".toml", ".md", ".yml", ".cfg"}
AS_THEY_ARE = ("tests/data/", "environments/", "LICENSE")


def files(checkout: Path) -> list[Path]:
    """All that git knows, and all new files that it would take."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    done = subprocess.run(command, cwd=checkout, stdout=subprocess.PIPE, check=False)
    if done.returncode != 0:
        pytest.skip("not a git checkout")
    return [checkout / name for name in done.stdout.decode().split("\0") if name]


def offences(name: str, text: str) -> list[str]:
    """What is wrong with one file's text, each with its line."""
    as_it_is = name.startswith(AS_THEY_ARE)
    found = []
    for what, pattern in FORBIDDEN.items():
        style = "blank" in what or "carriage" in what
        if style and (as_it_is or Path(name).suffix not in STYLED):
            continue
        found += [
            f"{name}:{text.count(chr(10), 0, match.start()) + 1}: {what}: {match.group()!r}"
            for match in pattern.finditer(text)
        ]
    return found


def test_no_file_names_registries_or_machines(checkout: Path) -> None:
    found = []
    for path in files(checkout):
        try:
            text = path.read_bytes().decode() if path.is_file() else ""
        except UnicodeDecodeError:
            continue
        found += offences(path.relative_to(checkout).as_posix(), text)
    assert found == []


@pytest.mark.parametrize(
    "text",
    [
        "https://" + REGISTRIES[0] + "/simple",
        "at /" + "root/.pyenv/versions",
        "<" * 7 + " HEAD",
        "x\r\n",
        "x \n",
    ],
)
def test_each_offence_is_seen(text: str) -> None:
    assert offences("docs/page.md", text)


def test_large_files_stay_out(checkout: Path) -> None:
    large = [path.name for path in files(checkout) if path.is_file() and too_large(path)]
    assert large == []


def too_large(path: Path) -> bool:
    return path.stat().st_size > 2 * 1024 * 1024
