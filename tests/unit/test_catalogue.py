"""Every target of the catalogue shows, explains and generates what it claims."""

from __future__ import annotations

import json
from collections.abc import Callable

import msgspec
import pytest
from click.testing import CliRunner

from tfenv import facts, listing, lock, render, toolchain
from tfenv.cli.list import command as list_command
from tfenv.cli.show import document
from tfenv.errors import ConflictError, TfenvError, UsageError
from tfenv.facts import schema
from tfenv.render import plan as plans
from tfenv.render.mirrors import Mirrors
from tfenv.target import Target, catalogue, parse, version_key, within
from tfenv.toolchain import Toolchain, lookup
from tfenv.toolchain.catalogue import Filter, entries, matching


def problems(target: Target, choose: Callable[[Target], Toolchain]) -> list[str]:
    """What is wrong with a target: values without a reason, nothing to generate, empty files."""
    try:
        chain = choose(target)
        locked = lock.make(chain)
        json.loads(msgspec.json.encode(document(chain, locked)))
        formats, files = render.render_all(plans.make(locked, Mirrors()), render.PURPOSES)
    except TfenvError as error:
        return [f"{error.what}: {error.why}"]
    found = [] if formats else ["no format serves it"]
    for key, value in chain.values.items():
        if not value.value or len(value.reason) < 10 or not value.source:
            found.append(f"{key} has no value, reason or source: {value}")
        found += [f"{key}: {r}" for r in value.rejected if not (r.value and r.reason and r.source)]
    found += [f"{file.path} is empty" for file in files if not file.text.strip()]
    paths = [file.path for file in files]
    found += [f"{path} is written twice" for path in sorted(set(paths)) if paths.count(path) > 1]
    served = {file.format for file in files if file.format}
    found += [f"{name} is claimed without a file" for name in formats if name not in served]
    return found


def test_every_target_shows_explains_and_generates() -> None:
    wrong = {name: problems(target, toolchain.choose) for name, target in catalogue().items()}
    assert {name: found for name, found in wrong.items() if found} == {}


def test_a_value_without_a_reason_is_seen() -> None:
    def careless(target: Target) -> Toolchain:
        chain = toolchain.choose(target)
        bare = msgspec.structs.replace(chain.values["bazel"], reason="")
        return msgspec.structs.replace(chain, values={**chain.values, "bazel": bare})

    assert any("bazel has no" in line for line in problems(parse("2.6.5-cuda"), careless))


def test_a_target_without_a_lock_is_seen() -> None:
    def other_python(target: Target) -> Toolchain:
        chain = toolchain.choose(target)
        older = msgspec.structs.replace(chain.values["python"], value="3.4")
        return msgspec.structs.replace(chain, values={**chain.values, "python": older})

    (found,) = problems(parse("1.4.0-cuda-windows"), other_python)
    assert "no Python lock" in found


def test_the_one_target_of_python_3_5_is_rendered_with_it() -> None:
    choices = toolchain.Choices(python="3.5")
    assert (
        problems(parse("1.4.0-cuda-windows"), lambda target: toolchain.choose(target, choices))
        == []
    )


def test_the_listed_catalogue_is_what_the_facts_give() -> None:
    written = listing.FILE.read_text("utf-8")
    assert written == listing.render(entries()), "run `python -m tfenv.toolchain.catalogue`"
    assert listing.read() == entries()
    names = listing.FILE.with_name("targets.txt").read_text("utf-8").split()
    assert names == list(catalogue())


def test_a_line_says_what_the_toolchain_says() -> None:
    for line in listing.read():
        chain = toolchain.choose(catalogue()[line.name])
        said = (line.python, line.bazel, line.cmake)
        assert said == (chain.get("python"), chain.get("bazel"), chain.get("cmake")), line.name
        assert f"{chain.get('cuda')}.".startswith(f"{line.cuda}." if line.cuda else ""), line.name
        assert lookup.requirement(chain.target).startswith(line.distribution), line.name


def test_there_are_enough_targets() -> None:
    assert len(catalogue()) >= 450


def test_every_target_is_a_released_wheel_or_a_documented_build() -> None:
    sources = {row.version for row in facts.rows(schema.Source)}
    for name, target in catalogue().items():
        built = target.version in sources and lookup.tested(target) is not None
        assert lookup.wheel(target) is not None or built, name


def test_products_are_offered_only_where_that_release_was_built_for_the_platform() -> None:
    for name, target in catalogue().items():
        if target.product != "wheel":
            wheel = msgspec.structs.replace(target, product="wheel")
            assert wheel.name in catalogue(), name
    arm = [t for t in catalogue().values() if t.platform == "macos-arm64" and t.product != "wheel"]
    assert arm
    assert all(within(t.version, ">=2.15.1") for t in arm)


def test_cuda_stands_only_where_it_was_released() -> None:
    cuda = [target for target in catalogue().values() if target.cuda]
    assert {t.platform for t in cuda} == {"linux-x86_64", "windows-x86_64"}
    newest = max(version_key(t.version) for t in cuda if t.platform == "windows-x86_64")
    assert newest == version_key("2.10.1")


SEEDS = {
    "2.6.5-cuda": {"docker", "nix", "conda"},
    "1.4.0-cuda-windows": {"script"},
    "2.6.0-cuda-windows": {"conda"},
    "2.10.1-cuda-windows": {"conda"},
    "1.15.5-cpu-macos-cc": {"script"},
    "1.15.5-cpu-macos-lite": {"script"},
    "2.6.0-cpu-macos": {"script"},
}


@pytest.mark.parametrize("name", SEEDS)
def test_the_first_targets_have_their_formats(name: str) -> None:
    plan = plans.make(lock.for_target(parse(name)), Mirrors())
    assert set(render.formats_for(plan)) >= SEEDS[name]


@pytest.mark.parametrize(
    ("wanted", "inside", "outside"),
    [
        (Filter(gpu="rtx3090", python="3.9"), "2.6.5-cuda", "2.3.4-cuda"),
        (Filter(gpu="gtx1080ti"), "1.4.0-cuda", "1.4.0-cpu"),
        (Filter(gpu="rtx5090"), "", "2.6.5-cuda"),
        (Filter(python="3.7"), "1.15.5-cpu", "2.21.0-cpu"),
        (Filter(tf="2.6"), "2.6.0-cpu", "2.5.3-cpu"),
        (Filter(tf=">=2.4,<2.7", variant="cpu"), "2.6.5-cpu", "2.6.5-cuda"),
        (Filter(platform="macos-arm64"), "2.16.2-cpu-macos-arm64", "2.16.2-cpu"),
        (Filter(platform="linux", product="lite"), "2.6.5-cpu-lite", "2.6.5-cpu"),
    ],
)
def test_filters(wanted: Filter, inside: str, outside: str) -> None:
    names = {entry.name for entry in matching(wanted)}
    assert not inside or inside in names
    assert outside in catalogue()
    assert outside not in names


def test_a_filter_that_makes_no_sense_is_refused() -> None:
    for wanted in (Filter(tf=">>2"), Filter(platform="amiga")):
        with pytest.raises(UsageError):
            matching(wanted)
    with pytest.raises(ConflictError):
        matching(Filter(gpu="voodoo2"))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--gpu", "k80", "--python", "3.13"), "without --gpu there are 28, without --python"),
        (("--gpu", "rtx5090"), "`tfenv show T --gpu 'rtx5090'` says what is left"),
        (("--tf", "2.6", "--python", "3.13", "--gpu", "rtx5090"), "more than one of the filters"),
    ],
)
def test_an_empty_list_says_which_filter_emptied_it(arguments: tuple[str, ...], said: str) -> None:
    run = CliRunner().invoke(list_command, list(arguments))
    assert run.exit_code == 0
    assert said in run.output
