"""Real servers: a second build takes its results from a cache, actions run on workers."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from tests.engines import bazel_builds as builds
from tests.engines import cache_servers

pytestmark = [
    pytest.mark.bazel,
    pytest.mark.tf,
    pytest.mark.slow,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Linux targets"),
]
SERVERS = {"buildgrid": cache_servers.buildgrid, "nginx": cache_servers.nginx}


def last_actions(run: str) -> dict[str, Any]:
    """The last that was said about actions in a run's events."""
    lines = (Path(run) / "events.jsonl").read_text().splitlines()
    found: list[dict[str, Any]] = [json.loads(line) for line in lines if '"actions"' in line]
    return found[-1]


@pytest.mark.parametrize("name", SERVERS)
def test_remote_cache(tmp_path: Path, name: str) -> None:
    target = "2.8.4-cpu"
    builds.need_bazel(target)
    serve: Callable[[Path], AbstractContextManager[str]] = SERVERS[name]
    (tmp_path / "server").mkdir()
    try:
        with serve(tmp_path / "server") as address:
            more = ("--remote-cache", address, "--fresh")
            code, first, said = builds.build(tmp_path, target, *more)
            assert code == 0, said
            assert last_actions(first["run"])["cache_hits"] == 0
            builds.stop_bazel(tmp_path)
            code, second, said = builds.build(tmp_path, target, *more)
            assert code == 0, said
    finally:
        builds.stop_bazel(tmp_path)
    assert second["run"] != first["run"]
    assert second["products"] == first["products"]
    actions = last_actions(second["run"])
    assert actions["processes"] > 20
    assert actions["cache_hits"] > 0.9 * actions["processes"]


@pytest.mark.evidence  # needs PostgreSQL as well
def test_remote_execution(tmp_path: Path) -> None:
    """The C++ actions run on workers of a real scheduler, though the tree says `standalone`."""
    target = "2.8.4-cpu"
    builds.need_bazel(target)
    server = tmp_path / "server"
    server.mkdir()
    try:
        with cache_servers.execution(server) as address:
            more = ("--remote-executor", address, "--jobs", "8")
            code, there, said = builds.build(tmp_path, target, *more)
            assert code == 0, (there, said)
    finally:
        builds.stop_bazel(tmp_path)
    ran = "".join(file.read_text() for file in server.glob("worker-*/commands.txt"))
    compiled = [line for line in ran.splitlines() if line.endswith(".o")]
    assert len(compiled) >= 10
    assert "_minitf_ops.so" in ran  # linked there too
    assert re.search(r"\d+ remote", (Path(there["run"]) / "log.txt").read_text())
    assert Path(there["files"][0]).stat().st_size > 100_000_000
