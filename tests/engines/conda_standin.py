"""A program that stands for `conda`: py-rattler solves and installs, bash activates.

    conda env create --prefix PREFIX --file FILE
    conda run --no-capture-output --prefix PREFIX WORDS...

STANDIN_CHANNEL is the channel that FILE's own are replaced by.
"""

from __future__ import annotations

import asyncio
import os
import re
import sys
from pathlib import Path

import rattler

from tfenv.lock.resolve_conda import VIRTUAL

_ACTIVATE = """
for one in "$CONDA_PREFIX"/etc/conda/activate.d/*.sh; do [ ! -f "$one" ] || . "$one"; done
exec "$@"
"""


def main(words: list[str]) -> int:
    if words[:3] == ["env", "create", "--prefix"] and words[4] == "--file":
        asyncio.run(create(Path(words[3]), Path(words[5]).read_text("utf-8")))
        return 0
    if words[:3] == ["run", "--no-capture-output", "--prefix"]:
        prefix = Path(words[3])
        own = {"CONDA_PREFIX": str(prefix), "PATH": f"{prefix}/bin:{os.environ['PATH']}"}
        os.execvpe("bash", ["bash", "-euc", _ACTIVATE, "conda", *words[4:]], os.environ | own)
    print(f"conda: not known: {words}", file=sys.stderr)  # noqa: T201 - a program that talks
    return 2


async def create(prefix: Path, text: str) -> None:
    specs = re.findall(r'^  - "([^"]+)"$', text.partition("dependencies:")[2], re.MULTILINE)
    records = await rattler.solve(
        sources=[rattler.Channel(os.environ["STANDIN_CHANNEL"])],
        specs=specs,
        platforms=["linux-64", "noarch"],
        virtual_packages=[
            rattler.GenericVirtualPackage(
                rattler.PackageName(name), rattler.Version(version), rattler.BuildString("0")
            )
            for name, version in VIRTUAL["linux-64"].items()
        ],
    )
    cache = Path(os.environ["STANDIN_CACHE"])
    await rattler.install(records, prefix, cache_dir=cache, show_progress=False)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
