"""Declared differences: what is meant to differ is excused to the letter, and nothing beside it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from tests.wheel_maker import make_wheel
from tfenv.audit import declared, show
from tfenv.audit.compare import audit
from tfenv.audit.declared import Change, Declaration
from tfenv.audit.model import Audit
from tfenv.cli.audit import command
from tfenv.errors import FileFormatError, UsageError

OLD = b"import a\nREQUIRED = [\n    'protobuf >= 3.9.2',\n    'six',\n]\nVERSION = '2.6.4'\n"
NEW = (
    b"import a\nREQUIRED = [\n    # 3.20 fails\n    'protobuf >= 3.9.2, < 3.20',\n    'six',\n]\n"
    b"VERSION = '2.6.5'\n"
)
SETUP = "tensorflow/tools/pip_package/setup.py"
METADATA = "tensorflow_cpu-{version}.dist-info/METADATA"
MEANT = Declaration(
    version=("2.6.4", "2.6.5"),
    change=[
        Change(
            METADATA,
            ["@@ -4,1 +4,1 @@", "-Requires-Dist: protobuf", "+Requires-Dist: protobuf (<3.20)"],
        ),
        Change(
            SETUP,
            [
                "@@ -3,1 +3,2 @@",
                "-    'protobuf >= 3.9.2',",
                "+    # 3.20 fails",
                "+    'protobuf >= 3.9.2, < 3.20',",
            ],
        ),
    ],
)


def releases(
    tmp_path: Path, setup: bytes = NEW, more: dict[str, bytes] | None = None
) -> list[Path]:
    """Two releases that differ by a requirement; `setup` and `more` are the second one's."""
    return [
        make_wheel(
            tmp_path / "a",
            {SETUP: OLD, "m.py": b"x = 1\n", "m.bin": b"\0\1"},
            version="2.6.4",
            metadata="Requires-Dist: protobuf\n",
        ),
        make_wheel(
            tmp_path / "b",
            {SETUP: setup, "m.py": b"x = 1\n", "m.bin": b"\0\1", **(more or {})},
            version="2.6.5",
            metadata="Requires-Dist: protobuf (<3.20)\n",
        ),
    ]


def kinds(result: Audit) -> set[tuple[str, str]]:
    return {(item.kind, item.path) for item in result.differences}


def test_another_version_is_a_difference_until_it_is_declared(tmp_path: Path) -> None:
    one = make_wheel(tmp_path / "a", {"v.py": b"V = '2.6.4'\n"}, version="2.6.4")
    two = make_wheel(tmp_path / "b", {"v.py": b"V = '2.6.5'\n"}, version="2.6.5")
    plain = audit(one, two)
    assert kinds(plain) == {("version", "")}
    assert "version=2.6.4:2.6.5" in plain.differences[0].cause
    meant = audit(one, two, declaration=Declaration(version=("2.6.4", "2.6.5")))
    assert (meant.verdict, meant.normalisers) == ("equivalent", ["version", "record"])
    for wrong in (("2.6.5", "2.6.4"), ("2.6.4", "2.6.6")):
        result = audit(one, two, declaration=Declaration(version=wrong))
        assert kinds(result) == {("declaration", "")}


def test_declared_lines_are_excused_and_still_named(tmp_path: Path) -> None:
    one, two = releases(tmp_path)
    result = audit(one, two, declaration=MEANT)
    assert result.verdict == "equivalent"
    assert result.normalisers == ["version", "record"]
    assert {item.path for item in result.declared} == {
        SETUP,
        "tensorflow_cpu-2.6.4.dist-info/METADATA",
    }
    text = show.as_text(result)
    assert "but for 5 declared lines in 2 members" in text.splitlines()[0]
    assert "+ 'protobuf >= 3.9.2, < 3.20'," in text
    assert "&lt; 3.20" in show.as_html(result)


@pytest.mark.parametrize(
    "setup",
    [
        NEW.replace(b"import a", b"import b"),  # a line more
        NEW.replace(b"< 3.20", b"< 3.21"),  # another one
        NEW.replace(b"    # 3.20 fails\n", b""),  # one less
        NEW.replace(b"    # 3.20 fails\n", b"").replace(b"'six',\n", b"'six',\n    # 3.20 fails\n"),
        NEW.replace(b"2.6.5", b"2.6.3"),  # a version that nobody declared
        NEW + b"\0",
        OLD.replace(b"2.6.4", b"2.6.5"),  # the change is not there
    ],
)
def test_what_is_hidden_behind_a_declaration_is_different(tmp_path: Path, setup: bytes) -> None:
    one, two = releases(tmp_path, setup)
    result = audit(one, two, declaration=MEANT)
    assert result.verdict == "different"
    assert ("declaration", SETUP) in kinds(result)


@pytest.mark.parametrize(
    ("member", "data", "kind"),
    [("m.py", b"x = 2\n", "python-line"), ("m.bin", b"\0\2", "bytes")],
)
def test_other_members_are_not_excused(tmp_path: Path, member: str, data: bytes, kind: str) -> None:
    one, two = releases(tmp_path, more={member: data})
    result = audit(one, two, declaration=MEANT)
    assert kinds(result) == {(kind, member)}


def test_binary_members_cannot_be_declared(tmp_path: Path) -> None:
    one, two = releases(tmp_path, more={"m.bin": b"\0\2"})
    change = Change("m.bin", ["@@ -1,1 +1,1 @@", "-\0\1", "+\0\2"])
    result = audit(one, two, declaration=Declaration(version=MEANT.version, change=[change]))
    assert ("bytes", "m.bin") in kinds(result)


def test_a_draft_declares_what_was_found(tmp_path: Path) -> None:
    one, two = releases(tmp_path)
    file = tmp_path / "changes.toml"
    found = CliRunner().invoke(command, [str(one), str(two), "--draft", str(file)])
    assert found.exit_code == 1
    drafted = declared.load(file)
    assert drafted.version == MEANT.version
    assert drafted.change == MEANT.change[::-1]  # by name
    again = CliRunner().invoke(command, [str(one), str(two), "--declare", str(file), "--json"])
    assert again.exit_code == 0
    document = json.loads(again.stdout)
    assert document["verdict"] == "equivalent"
    assert document["tally"]["members_differing"] == 3
    assert len(document["declared"]) == 2
    by_hand = ["--declare", "version=2.6.4:2.6.5", "--declare", str(file)]
    assert CliRunner().invoke(command, [str(one), str(two), *by_hand]).exit_code == 0


@given(st.lists(st.text(), max_size=5), st.text(min_size=1))
def test_a_declaration_survives_its_file(lines: list[str], path: str) -> None:
    meant = Declaration(version=("1", "2"), change=[Change(path, lines)])
    import msgspec
    import tomli

    assert msgspec.convert(tomli.loads(declared.render(meant)), Declaration) == meant


def test_unusable_declarations(tmp_path: Path) -> None:
    for text in ("version=2.6.4", "version=:2", "version=1:"):
        with pytest.raises(UsageError):
            declared.parse([text])
    with pytest.raises(UsageError):
        declared.parse(["version=1:2", "version=1:3"])
    for content in ("version = 1", "nonsense = 1", "format = 2", "["):
        (tmp_path / "d.toml").write_text(content, "utf-8")
        with pytest.raises(FileFormatError):
            declared.load(tmp_path / "d.toml")
    with pytest.raises(FileFormatError):
        declared.load(tmp_path / "missing.toml")
    (tmp_path / "d.toml").write_text(declared.render(MEANT), "utf-8")
    with pytest.raises(UsageError):
        declared.parse([str(tmp_path / "d.toml")] * 2)
    done = CliRunner().invoke(command, ["a", "b", "--quick", "--declare", "version=1:2"])
    assert done.exit_code == 2
