"""Every way to fail has its exit code and three lines for people."""

from __future__ import annotations

import inspect
import json

import pytest

from tfenv import cli, errors
from tfenv.errors import MissingExtraError, TfenvError

CLASSES = [
    kind
    for _, kind in inspect.getmembers(errors, inspect.isclass)
    if issubclass(kind, TfenvError) and kind is not TfenvError
]
CODES = {
    "BadWheelError": 1,
    "UsageError": 2,
    "UnknownTargetError": 2,
    "UnsafeValueError": 2,
    "FileFormatError": 2,
    "ConflictError": 3,
    "UnpinnedError": 3,
    "DownloadError": 4,
    "HashMismatchError": 4,
    "BuildError": 5,
    "MissingToolError": 6,
    "MissingExtraError": 6,
    "NotHereError": 6,
    "EnvironmentFailedError": 7,
    "StoppedError": 130,
}


def make(kind: type[TfenvError]) -> TfenvError:
    if kind is MissingExtraError:
        return MissingExtraError("conda", "rattler")
    return kind("what happened", "why it did", "what to do")


def test_the_table_names_every_class() -> None:
    assert {kind.__name__: kind.exit_code for kind in CLASSES} == CODES


def test_kinds_are_distinct() -> None:
    kinds = [kind.kind for kind in CLASSES]
    assert len(set(kinds)) == len(kinds)


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_each_is_shown_in_three_lines_with_its_code(
    kind: type[TfenvError], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise make(kind)

    monkeypatch.setattr(cli.group, "main", fail)
    with pytest.raises(SystemExit) as caught:
        cli.main(["list"])
    assert caught.value.code == kind.exit_code
    out, err = capsys.readouterr()
    assert out == ""
    lines = err.splitlines()
    assert len(lines) == 3
    assert [line.split(":")[0] for line in lines] == ["error", "  why", "  fix"]
    assert "Traceback" not in err


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_each_is_one_document_with_json(
    kind: type[TfenvError], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise make(kind)

    monkeypatch.setattr(cli.group, "main", fail)
    with pytest.raises(SystemExit):
        cli.main(["list", "--json"])
    out, err = capsys.readouterr()
    assert err == ""
    error = json.loads(out)["error"]
    assert error["kind"] == kind.kind
    assert error["exit_code"] == kind.exit_code
    assert set(error) == {"kind", "what", "why", "fix", "exit_code"}


def test_control_characters_do_not_reach_the_terminal() -> None:
    error = errors.UsageError("a\x1b[2Jb\nc", "w\ry", "f\x07ix")
    assert error.lines() == ("error: a [2Jb c", "  why: w y", "  fix: f ix")


def test_a_missing_extra_names_itself() -> None:
    assert "pip install 'tfenv[conda]'" in MissingExtraError("conda", "rattler").fix
