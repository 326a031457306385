"""Real refusals of conda's solver, made here on a small channel, and what `explain` says of them."""

from __future__ import annotations

import asyncio
import functools
import http.server
import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tfenv.diagnose.explain import explain_text

rattler = pytest.importorskip("rattler", reason="needs the extra conda (py-rattler)")


def package(name: str, version: str, *depends: str) -> dict[str, object]:
    record = {"name": name, "version": version, "build": "0", "build_number": 0}
    return record | {"depends": depends, "subdir": "linux-64", "sha256": "0" * 64, "size": 1}


PACKAGES = [
    package("python", "3.7.12"),
    package("python", "3.11.4"),
    package("tensorflow-gpu", "2.6.0", "python 3.7.*", "cudatoolkit 11.2.*"),
    package("cudatoolkit", "11.2.2", "__cuda >=11.2"),
    package("tensorflow-gpu", "2.7.0", "cudatoolkit 11.4.*"),
]


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def channel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("channel")
    for subdir, packages in (("linux-64", PACKAGES), ("noarch", [])):
        names = {f"{p['name']}-{p['version']}-0.tar.bz2": p for p in packages}
        data = {"info": {"subdir": subdir}, "packages": names, "packages.conda": {}}
        (folder / subdir).mkdir()
        (folder / subdir / "repodata.json").write_text(json.dumps(data))
    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder))
    )
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def refusal(channel: str, cache: Path, *specs: str) -> str:
    """What the solver says when it cannot."""
    gateway = rattler.Gateway(cache_dir=cache)

    async def solve() -> None:
        await rattler.solve(
            [channel], list(specs), platforms=["linux-64", "noarch"], gateway=gateway
        )

    with pytest.raises(Exception, match="Cannot solve") as caught:
        asyncio.run(solve())
    return str(caught.value)


@pytest.mark.parametrize(
    ("specs", "cause"),
    [
        (("tensorflow-gpu 2.6.0.*", "python 3.11.*"), "conda-package-not-in-channels"),
        (("cudnn 8.1.*",), "conda-unsatisfiable-old-cudatoolkit conda-package-not-in-channels"),
        (("tensorflow-gpu 2.6.0.*", "python 3.7.*"), "no-nvidia-driver"),
        (("tensorflow-gpu 2.7.0.*",), "conda-unsatisfiable-old-cudatoolkit"),
    ],
)
def test_what_the_solver_refuses_is_explained(
    channel: str, tmp_path: Path, specs: tuple[str, ...], cause: str
) -> None:
    text = refusal(channel, tmp_path, *specs)
    assert explain_text(text).root_cause in cause.split(), text
