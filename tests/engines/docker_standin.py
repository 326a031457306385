# ruff: noqa: T201 - a program that talks
"""A program that stands for `docker`, for machines that cannot pull the toolchain's base image.

`version` answers, `build` checks its folder and target, and `run` really runs the command: in a mount
namespace of its own, on a copy-on-write view of this machine's files, with the volumes where the
command line puts them, read-only where it says so, and without a network where it says so. What it
cannot show is that the image itself can be made: other tests do that.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

_VALUED = {"--name", "--user", "--env", "--volume", "--network"}
_TOOLS = "/opt/image/bin"  # where the image would have its Bazel


def main(arguments: list[str]) -> int:
    verb = arguments[0]
    if verb == "version":
        print("20.10.24")
        return 0
    if verb == "build":
        return build(arguments[1:])
    if verb == "run":
        return run(arguments[1:])
    print(f"docker: unknown command {verb}", file=sys.stderr)
    return 1


def build(arguments: list[str]) -> int:
    folder, stage = Path(arguments[-1]), arguments[arguments.index("--target") + 1]
    text = (folder / "Dockerfile").read_text()
    print(f"building {stage}")
    return 0 if f" AS {stage}\n" in text else 1


def run(arguments: list[str]) -> int:
    options: dict[str, list[str]] = {name: [] for name in _VALUED}
    words = list(arguments)
    while words[0].startswith("--"):
        name = words.pop(0)
        if name in _VALUED:
            options[name].append(words.pop(0))
        elif name not in {"--rm", "--init"}:
            print(f"docker: unknown option {name}", file=sys.stderr)
            return 125
    _image, *command = words
    with tempfile.TemporaryDirectory(dir=os.environ["STANDIN_TMP"]) as home:
        volumes = [*options["--volume"], f"{os.environ['STANDIN_TOOLS']}:{_TOOLS}:ro"]
        script = _script(Path(home), volumes, command)
        namespaces = ["unshare", "--mount"]
        if options["--network"] == ["none"]:
            namespaces.append("--net")
        variables = dict(one.split("=", 1) for one in options["--env"])
        variables["PATH"] = f"{_TOOLS}:{os.environ['STANDIN_PATH']}"
        return subprocess.run(
            [*namespaces, "bash", "-euc", script], env=variables, check=False
        ).returncode


def _script(home: Path, volumes: list[str], command: list[str]) -> str:
    import shlex

    root = home / "root"
    lines = [
        "ip link set lo up 2>/dev/null || true",
        f"mount -t tmpfs tmpfs {home}",
        f"mkdir -p {home}/upper {home}/scratch {root}",
        f"mount -t overlay overlay -o lowerdir=/,upperdir={home}/upper,workdir={home}/scratch {root}",
        f"mount --rbind /proc {root}/proc",
        f"mount --rbind /dev {root}/dev",
        f"mount -t tmpfs tmpfs {root}/tmp",
    ]
    for volume in volumes:
        outside, inside, *mode = volume.split(":")
        there = f"{root}{inside}"
        make = f"mkdir -p {there}"
        if Path(outside).is_file():
            make = f"mkdir -p $(dirname {there}) && touch {there}"
        lines += [make, f"mount --bind {outside} {there}"]
        if mode == ["ro"]:
            lines.append(f"mount -o remount,bind,ro {there}")
    lines.append(f"exec chroot {root} {shlex.join(command)}")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
