"""The shipped facts hold together, and a row that does not is named."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
import tomli
from click.testing import CliRunner

from tfenv import facts
from tfenv.cli.facts import command
from tfenv.errors import FileFormatError
from tfenv.facts import check as module
from tfenv.facts import rules, schema, table
from tfenv.facts.check import Problem, check

HEX = "0123456789abcdef" * 4


def test_shipped_facts_are_clean() -> None:
    assert [str(problem) for problem in check()] == []


def changed(kind: type[schema.Row], index: int = 0, **fields: Any) -> list[Problem]:
    """The problems after one shipped row was changed."""
    rows = list(facts.rows(kind))
    rows[index] = msgspec.structs.replace(rows[index], **fields)
    return check({kind: tuple(rows)})


def where(kind: type[schema.Row], wanted: Callable[[Any], bool]) -> int:
    """The place of the first row that is so."""
    return next(i for i, row in enumerate(facts.rows(kind)) if wanted(row))


def names(problems: list[Problem], table: str, index: int, text: str) -> bool:
    """Whether a problem names this row and says this."""
    return any(
        p.table == table and p.row == index + 1 and text in p.what and p.key for p in problems
    )


FILLED = [(name, kind) for name, kind in schema.TABLES.items() if facts.rows(kind)]


@pytest.mark.parametrize(("table", "kind"), FILLED, ids=[name for name, _ in FILLED])
class TestEveryTable:
    """What holds for the rows of every table, broken in each table once."""

    def test_a_row_without_source_is_named(self, table: str, kind: type[schema.Row]) -> None:
        assert names(changed(kind, 0, source=" "), table, 0, "no source")

    def test_the_same_row_twice_is_named(self, table: str, kind: type[schema.Row]) -> None:
        rows = facts.rows(kind)
        problems = check({kind: (*rows, rows[0])})
        assert any(p.table == table and "2 rows with this key" in p.what for p in problems)

    def test_every_field_with_a_rule_is_held_to_it(
        self, table: str, kind: type[schema.Row]
    ) -> None:
        row = facts.rows(kind)[0]
        for name in kind.__struct_fields__:
            value = getattr(row, name)
            if isinstance(value, str) and name in rules._RULES:
                broken = msgspec.structs.replace(row, **{name: "?!"})
                assert f"{name} is malformed: '?!'" in list(rules.problems(broken))
            if isinstance(value, list) and name in rules._ITEMS:
                broken = msgspec.structs.replace(row, **{name: ["?!"]})
                assert f"{name} has a malformed item: '?!'" in list(rules.problems(broken))

    def test_an_address_has_to_be_https(self, table: str, kind: type[schema.Row]) -> None:
        row = facts.rows(kind)[0]
        for name in {"url", "second_url"} & set(kind.__struct_fields__):
            plain = msgspec.structs.replace(row, **{name: "http://example.org/x", "note": ""})
            assert any(f"{name} is not https" in what for what in rules.problems(plain))
            for value in ("ftp://example.org/x", "https://example.org/$(id)", "https://a b"):
                worse = msgspec.structs.replace(row, **{name: value, "note": "why"})
                assert any(f"{name} is not an https" in what for what in rules.problems(worse))

    def test_a_control_character_is_named(self, table: str, kind: type[schema.Row]) -> None:
        assert names(changed(kind, 0, note="\x1b[2J"), table, 0, "control character")

    def test_its_key_fields_exist(self, table: str, kind: type[schema.Row]) -> None:
        assert set(module.KEYS.get(kind, ())) <= set(kind.__struct_fields__)

    def test_it_says_what_it_is_and_who_keeps_it_up(
        self, table: str, kind: type[schema.Row]
    ) -> None:
        from importlib import resources

        text = resources.files("tfenv.facts").joinpath(f"{table}.toml").read_text("utf-8")
        header = text.partition("\nrows = [")[0]
        assert all(line.startswith("#") for line in header.splitlines() if line)
        assert "Kept up by:" in header
        assert text.count("\n  { ") == len(facts.rows(kind)), "one row per line"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("sha256", HEX[:-1]),
        ("sha256", HEX + "0"),
        ("sha256", HEX.upper()),
        ("sha256", HEX[:-1] + "g"),
        ("md5", HEX[:31]),
        ("md5", HEX),
    ],
)
def test_hashes_of_the_wrong_length_or_alphabet(field: str, value: str) -> None:
    problems = changed(schema.CudaToolkit, 0, **{field: value})
    assert names(problems, "cuda", 0, f"{field} is malformed")


@pytest.mark.parametrize(
    "value",
    [
        "sha256-" + "A" * 42 + "=",  # 31 bytes
        "sha512-hekabNdTdgR/iLsgce5TGWmfIDZ86qjPhxDg/8TlzhE=",
        "hekabNdTdgR/iLsgce5TGWmfIDZ86qjPhxDg/8TlzhE=",
        "sha256-hekabNdTdgR_iLsgce5TGWmfIDZ86qjPhxDg/8TlzhE=",
    ],
)
def test_nar_hashes_of_another_form(value: str) -> None:
    problems = changed(schema.NixpkgsPin, nar_hash=value)
    assert names(problems, "nixpkgs", 0, "nar_hash is malformed")


@pytest.mark.parametrize("value", [f"sha256:{HEX[:-1]}", HEX, f"sha512:{HEX}"])
def test_image_digests_of_another_form(value: str) -> None:
    assert names(changed(schema.Image, digest=value), "images", 0, "digest is malformed")


def test_a_missing_hash_needs_a_reason() -> None:
    place = where(schema.BazelFile, lambda r: not r.note)
    assert names(changed(schema.BazelFile, place, sha256=""), "bazel", place, "no sha256")
    md5_only = where(schema.CudaToolkit, lambda r: r.md5 and not r.sha256)
    assert names(changed(schema.CudaToolkit, md5_only, note=""), "cuda", md5_only, "no sha256")


def test_a_missing_address_needs_a_reason() -> None:
    login = where(schema.CudnnArchive, lambda r: not r.url)
    assert names(changed(schema.CudnnArchive, login, note=""), "cudnn", login, "no url")
    serving = where(schema.Mirror, lambda r: r.status == "serving")
    problems = changed(schema.Mirror, serving, url="", note="why")
    assert names(problems, "mirrors", serving, "serves, and has no url")


def test_versions_that_do_not_parse() -> None:
    for kind, name in ((schema.Source, "sources"), (schema.CPython, "cpython")):
        assert names(changed(kind, version="1.x"), name, 0, "version is malformed")


def test_ranges_that_match_no_release() -> None:
    for kind, name in ((schema.Pin, "pins"), (schema.Feature, "features")):
        assert names(changed(kind, versions="==1.3.*"), name, 0, "no release is in")


def test_a_wheel_of_an_unknown_release() -> None:
    sources = facts.rows(schema.Source)[1:]
    problems = check({schema.Source: sources})
    assert any(p.table == "wheels" and "no row in sources.toml" in p.what for p in problems)
    assert any(p.table == "bazel-bounds" and "no row in sources.toml" in p.what for p in problems)


def test_a_release_without_bounds() -> None:
    problems = check({schema.BazelBound: facts.rows(schema.BazelBound)[1:]})
    assert names(problems, "sources", 0, "no row in bazel-bounds.toml")


def test_bounds_upside_down() -> None:
    place = where(schema.BazelBound, lambda r: r.min and r.max)
    problems = changed(schema.BazelBound, place, min="9.0", max="1.0")
    assert names(problems, "bazel-bounds", place, "min is above max")


def test_stubs_are_small_and_name_the_real_distribution() -> None:
    real = where(schema.Wheel, lambda r: not r.stub)
    stub = where(schema.Wheel, lambda r: r.stub)
    assert names(changed(schema.Wheel, real, stub=True), "wheels", real, "stub = True")
    assert names(changed(schema.Wheel, stub, stub=False), "wheels", stub, "stub = False")
    unnamed = changed(schema.Wheel, stub, real="", note="")
    assert names(unnamed, "wheels", stub, "name the real distribution")
    astray = changed(schema.Wheel, stub, real="tensorflow-macos")
    assert names(astray, "wheels", stub, "no wheel of tensorflow-macos for it")
    assert names(changed(schema.Wheel, real, pythons=[]), "wheels", real, "no Python")


def test_pythons_are_sorted_as_versions() -> None:
    bad = changed(schema.Wheel, pythons=["3.10", "3.9"])
    assert names(bad, "wheels", 0, "not sorted")
    assert not names(changed(schema.Wheel, pythons=["3.9", "3.10"]), "wheels", 0, "not sorted")


def test_a_tested_bazel_that_nobody_can_fetch() -> None:
    place = where(schema.Tested, lambda r: r.build_tool == "bazel")
    problems = changed(schema.Tested, place, build_tool_version="0.5.3")
    assert names(problems, "tested", place, "no file of Bazel 0.5.3")


def test_the_documents_known_mistakes_are_out_of_bounds() -> None:
    for version, platform, wrong in (
        ("1.7.0", "linux-x86_64", "0.9.0"),
        ("2.0.0", "macos-x86_64", "0.27.1"),
    ):
        names_of_rows = [f"{r.version} {r.platform}" for r in facts.rows(schema.Tested)]
        place = names_of_rows.index(f"{version} {platform}")
        problems = changed(schema.Tested, place, build_tool_version=wrong)
        assert names(problems, "tested", place, f"Bazel {wrong} is out of bounds")


def test_a_tested_cuda_that_is_in_no_table() -> None:
    place = where(schema.Tested, lambda r: r.cuda)
    problems = changed(schema.Tested, place, cuda="8.1")
    assert names(problems, "tested", place, "CUDA 8.1 is not in cuda-arch.toml")
    assert names(problems, "tested", place, "no CUDA 8.1 for")
    assert names(changed(schema.Tested, place, cuda=""), "tested", place, "go with variant cuda")


def test_build_info_is_about_a_released_wheel() -> None:
    problems = changed(schema.BuildInfo, version="2.6.9")
    assert names(problems, "build-info", 0, "no row in wheels.toml")
    place = where(schema.BuildInfo, lambda r: r.cuda_build)
    contrary = changed(schema.BuildInfo, place, cuda_build=False)
    assert names(contrary, "build-info", place, "wheels.toml calls this wheel cuda")


def test_preferred_images_can_be_had() -> None:
    place = where(schema.Image, lambda r: r.preferred)
    for broken in ({"gone": True}, {"digest": "", "note": "?"}):
        assert names(changed(schema.Image, place, **broken), "images", place, "preferred, and")
    other = where(schema.Image, lambda r: r.tag == "18.04" and not r.preferred)
    assert any("second preferred" in p.what for p in changed(schema.Image, other, preferred=True))


def test_preferred_revisions_are_complete() -> None:
    place = where(schema.NixpkgsPin, lambda r: r.preferred)
    problems = changed(schema.NixpkgsPin, place, last_modified=0)
    assert names(problems, "nixpkgs", place, "preferred, and not complete")
    other = where(schema.NixpkgsPin, lambda r: r.release == "21.11" and not r.preferred)
    problems = changed(schema.NixpkgsPin, other, preferred=True, last_modified=1)
    assert any("second preferred" in p.what for p in problems)


def test_cards_have_a_capability_that_some_cuda_compiles_for() -> None:
    assert names(changed(schema.Gpu, capability="8.5"), "gpus", 0, "no CUDA compiles for 8.5")


def test_an_alias_means_one_thing() -> None:
    first = facts.rows(schema.Gpu)[0]
    problems = changed(schema.Gpu, 1, aliases=list(first.aliases))
    assert names(problems, "gpus", 1, f"already means {first.name}")
    place = where(schema.Mirror, lambda r: r.name == "ustc")
    problems = changed(schema.Mirror, place, aliases=["tsinghua"])
    assert names(problems, "mirrors", place, "already means tsinghua")


def test_toolkits_and_archives_belong_to_a_known_cuda() -> None:
    problems = check({schema.CudaArch: facts.rows(schema.CudaArch)[1:]})
    gone = facts.rows(schema.CudaArch)[0].cuda
    assert any(p.table == "cuda" and p.key.startswith(f"{gone}.") for p in problems)
    assert names(changed(schema.CudnnArchive, cuda="7.5"), "cudnn", 0, "CUDA 7.5 is not")
    assert names(changed(schema.CudaPair, cudnn="8.2.9"), "cuda-pairs", 0, "no cuDNN 8.2.9")


def test_what_is_not_known_is_marked() -> None:
    """A row without its values passes only with a note that begins so."""
    place = where(schema.BazelBound, lambda r: r.file and not r.min)
    for note, wrong in (("not known: the bounds", False), ("later", True)):
        problems = changed(schema.BazelBound, place, file="", note=note)
        assert names(problems, "bazel-bounds", place, "neither a bound") == wrong
    newest = len(facts.rows(schema.CudaArch)) - 1
    for note, wrong in (("not known: capabilities", False), ("later", True)):
        problems = changed(schema.CudaArch, newest, sm=[], note=note)
        assert names(problems, "cuda-arch", newest, "no compute capabilities") == wrong


def test_numbers_of_a_compiler_upside_down() -> None:
    assert names(changed(schema.Msvc, 1, oldest=1917), "msvc", 1, "is no range")


def test_what_metadata_asks_for_is_of_a_release() -> None:
    assert names(changed(schema.Requires, version="2.6.9"), "requires", 0, "no wheel of this")
    assert names(changed(schema.Requires, requires=[]), "requires", 0, "asks for nothing")
    assert names(changed(schema.Requires, requires=["numpy >"]), "requires", 0, "malformed item")


def test_a_table_that_cannot_be_read_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    def unreadable(kind: type[schema.Row]) -> tuple[schema.Row, ...]:
        raise FileFormatError("the facts table cannot be read", "not TOML", "reinstall tfenv")

    monkeypatch.setattr(facts, "rows", unreadable)
    assert Problem("wheels", 0, "", "not TOML") in check()


@pytest.mark.parametrize(
    "text",
    [
        "rows = [",
        "",
        "rows = [{ version = 1 }]",
        'rows = [{ version = "1", url = "u", sha256 = "s", source = "s", typo = 1 }]',
    ],
)
def test_text_that_is_no_table(text: str) -> None:
    with pytest.raises(FileFormatError):
        facts.parse("cpython", text)


def test_the_command_names_the_row_and_ends_with_1(monkeypatch: pytest.MonkeyPatch) -> None:
    clean = CliRunner().invoke(command, ["check"])
    assert clean.exit_code == 0
    assert clean.output.startswith("no problem in ")
    monkeypatch.setattr(module, "check", lambda: changed(schema.BazelFile, 3, source=""))
    broken = CliRunner().invoke(command, ["check"])
    assert broken.exit_code == 1
    assert "bazel.toml row 4 (0.7.0 any dist-zip): no source" in broken.output
    document = msgspec.json.decode(CliRunner().invoke(command, ["check", "--json"]).output)
    assert document["problems"][0]["what"] == "no source"
    assert document["rows"]["bazel"] == len(facts.rows(schema.BazelFile))


@pytest.mark.parametrize("name", schema.TABLES)
def test_the_quick_reader_reads_what_toml_says(name: str) -> None:
    path = Path(facts.__file__).with_name(f"{name}.toml")
    text = path.read_text("utf-8")
    slow = msgspec.convert(tomli.loads(text)["rows"], tuple[schema.TABLES[name], ...])  # type: ignore[valid-type]
    assert facts.parse(name, text) == slow


@pytest.mark.parametrize(
    "note",
    [
        'a, source = "b"',
        "a, source = 3",
        '{ name = "x" }, {',
        "ends in \\",
        'a", "note": "b',
        "ü\\u0041",
    ],
)
def test_text_that_looks_like_a_key_stays_text(note: str) -> None:
    row = schema.Gpu(name="x", capability="8.6", source="s", note=note)
    assert facts.parse("gpus", table.render("# head", [row])) == (row,)


@pytest.mark.parametrize(
    "text",
    [
        'rows = [{name = "x", capability = "8.6", source = "s"}]',
        '# head\n\nrows = [\n  { name = "x", capability = "8.6", source = "s" },\n]\n# end\n',
        "[[rows]]\nname = 'x'\ncapability = '8.6'\nsource = 's'\n",
    ],
)
def test_any_other_form_of_toml_is_read_too(text: str) -> None:
    assert facts.parse("gpus", text) == (schema.Gpu(name="x", capability="8.6", source="s"),)


def test_rows_are_grouped_by_their_fields() -> None:
    groups = facts.grouped(schema.Wheel, "version", "platform")
    assert sum(map(len, groups.values())) == len(facts.rows(schema.Wheel))
    assert {r.distribution for r in groups["2.6.5", "linux-x86_64"]} >= {"tensorflow-cpu"}
