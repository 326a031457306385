"""Bazel's build events, whole and damaged."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tfenv.build.events import Follower, Progress, advance


def progress_event(text: str) -> dict[str, object]:
    return {"id": {"progress": {"opaqueCount": 1}}, "progress": {"stderr": text}}


def test_actions_and_processes() -> None:
    lines = "Loading:\n[1,204 / 20,345] Compiling a/b.cc; 5s local\n"
    got = advance(Progress(), progress_event(lines))
    assert (got.done, got.total, got.action) == (1204, 20345, "Compiling a/b.cc; 5s local")
    lines = "INFO: 33 processes: 20 remote cache hit, 6 internal, 7 linux-sandbox.\n"
    got = advance(got, progress_event(lines))
    assert (got.processes, got.cache_hits, got.done) == (27, 20, 1204)


def test_old_bazels_write_prepa_in_brackets() -> None:
    got = advance(Progress(), progress_event("[4 / 7] [Prepa] Writing file x.params\n"))
    assert got.action == "Writing file x.params"


def test_the_end() -> None:
    events: list[dict[str, object]] = [
        {"id": {"actionCompleted": {"label": "//a:b"}}, "action": {"exitCode": 1}},
        {"id": {"buildFinished": {}}, "finished": {"exitCode": {"name": "BUILD_FAILURE"}}},
        {
            "id": {"buildMetrics": {}},
            "buildMetrics": {"actionSummary": {"actionsExecuted": "33"}},
        },
    ]
    got = Progress()
    for event in events:
        got = advance(got, event)
    assert (got.failed, got.exit_name, got.executed) == (["//a:b"], "BUILD_FAILURE", 33)
    assert got.finished


@pytest.mark.parametrize(
    "event",
    [
        {},
        {"id": None},
        {"id": "progress"},
        {"id": {"progress": {}}, "progress": None},
        {"id": {"progress": {}}, "progress": {"stderr": 7}},
        {"id": {"buildMetrics": {}}, "buildMetrics": {"actionSummary": {"actionsExecuted": "x"}}},
        {"id": {"unknown": {}}},
    ],
)
def test_odd_events_change_nothing(event: dict[str, object]) -> None:
    assert advance(Progress(), event) == Progress()


def test_a_growing_file(tmp_path: Path) -> None:
    path = tmp_path / "bep.json"
    follower = Follower(path)
    assert follower.read() == Progress()
    line = json.dumps(progress_event("[1 / 2] One\n"))
    path.write_text(line[:20])
    assert follower.read() == Progress()
    path.write_text(line + "\nnot json\n[]\n" + line.replace("[1 / 2] One", "[2 / 2] Two"))
    assert follower.read().action == "One"
    with path.open("a") as stream:
        stream.write("\n")
    assert follower.read().action == "Two"
