"""The command line as a user meets it: in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tfenv import cli


def run(*arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tfenv", *arguments]
    return subprocess.run(
        command, capture_output=True, text=True, encoding="utf-8", cwd=cwd, check=False
    )


def test_help_names_every_command_and_imports_little() -> None:
    code = "import sys; sys.argv = ['tfenv', '--help']\nfrom tfenv.cli import main\ntry: main()\n"
    code += "except SystemExit: pass\nheavy = {'jinja2', 'rich', 'msgspec', 'tomli', 'packaging'}\n"
    code += "print('HEAVY', sorted(heavy & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "HEAVY []" in done.stdout
    for name in cli.COMMANDS:
        assert name in done.stdout


@pytest.mark.parametrize("name", list(cli.COMMANDS))
def test_every_command_has_help(name: str) -> None:
    done = run(name, "--help")
    assert done.returncode == 0, done.stderr
    assert "Usage: tfenv" in done.stdout


def test_show_json_has_value_reason_and_source() -> None:
    done = run("show", "2.6.5-cuda", "--json")
    assert done.returncode == 0
    document = json.loads(done.stdout)
    for key in ("python", "numpy", "compiler", "bazel", "cuda", "cudnn"):
        assert set(document["toolchain"][key]) == {"value", "reason", "source"}
        assert all(document["toolchain"][key].values()), key
    assert document["download_bytes"] > 0
    assert document["unpinned"] == []


def test_show_and_why_for_people() -> None:
    assert "because" in run("show", "2.6.5-cuda").stdout
    assert "3.7.2" in run("why", "2.6.5-cuda", "bazel").stdout


def test_why_json_has_its_shape() -> None:
    document = json.loads(run("why", "2.6.5-cuda", "cuda", "--json").stdout)
    assert {"target", "key", "value", "reason", "source", "rejected"} <= set(document)
    assert document["rejected"][0]["value"] == "11.2"


def test_why_of_an_unknown_key_names_the_keys() -> None:
    done = run("why", "2.6.5-cuda", "bazl")
    assert done.returncode == 2
    assert "bazel" in done.stderr


def test_an_impossible_choice_is_exit_3() -> None:
    done = run("generate", "2.6.5-cuda", "--cuda", "11.0", "--gpu", "8.6")
    assert done.returncode == 3
    assert "sm_86" in done.stderr
    assert "CUDA 11.1" in done.stderr
    assert "spack" in done.stderr


def test_an_unknown_target_is_exit_2_with_the_nearest() -> None:
    done = run("generate", "2.6.6-cuda")
    assert done.returncode == 2
    assert "2.6.5-cuda" in done.stderr


def test_an_unknown_command_is_suggested() -> None:
    done = run("generat", "2.6.5-cuda")
    assert done.returncode == 2
    assert "tfenv generate" in done.stderr


def test_an_unknown_option_is_exit_2_in_three_lines() -> None:
    done = run("list", "--colour")
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 3


def test_generate_twice_is_byte_identical_and_check_sees_one_byte(tmp_path: Path) -> None:
    arguments = ("generate", "2.6.5-cuda", "--format", "nix,conda,docker")
    for name in ("a", "b"):
        assert run(*arguments, "-o", str(tmp_path / name)).returncode == 0
    one, two = (sorted((tmp_path / name).rglob("*")) for name in ("a", "b"))
    assert [p.relative_to(tmp_path / "a") for p in one] == [
        p.relative_to(tmp_path / "b") for p in two
    ]
    pairs = [(a, b) for a, b in zip(one, two, strict=True) if a.is_file()]
    assert all(a.read_bytes() == b.read_bytes() for a, b in pairs)
    assert run(*arguments, "-o", str(tmp_path / "a"), "--check").returncode == 0
    touched = tmp_path / "a" / "2.6.5-cuda" / "docker" / "Dockerfile"
    touched.write_bytes(touched.read_bytes().replace(b"3.7.2", b"3.7.1", 1))
    done = run(*arguments, "-o", str(tmp_path / "a"), "--check")
    assert done.returncode == 1
    assert "3.7.1" in done.stdout
    assert "3.7.2" in done.stdout


def test_check_sees_a_changed_line_end(tmp_path: Path) -> None:
    arguments = ("generate", "2.6.5-cpu", "--format", "docker", "-o", str(tmp_path))
    assert run(*arguments).returncode == 0
    path = tmp_path / "2.6.5-cpu" / "docker" / "Dockerfile"
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert run(*arguments, "--check").returncode == 1


def test_the_committed_environments_are_what_is_generated(checkout: Path) -> None:
    folder = checkout / "environments"
    names = sorted(path.name for path in folder.iterdir() if path.is_dir())
    assert {"2.6.5-cuda", "2.6.5-cpu"} <= set(names)
    done = run("generate", *names, "-o", str(folder), "--check")
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr


def test_generate_takes_nixpkgs_from_a_folder(tmp_path: Path) -> None:
    folder = ("--nixpkgs-path", "/srv/nixpkgs/", "-o", str(tmp_path))
    assert run("generate", "2.6.5-cuda", "--format", "nix", *folder).returncode == 0
    text = (tmp_path / "2.6.5-cuda" / "nix" / "flake.nix").read_text("utf-8")
    assert 'url = "path:/srv/nixpkgs";' in text
    assert run("generate", "2.6.5-cuda", "--format", "nix", "--check", *folder).returncode == 0


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("2.6.5-cuda", "--nixpkgs-path", "nixpkgs"), "cannot stand in a generated file"),
        (("2.6.5-cuda", "--nixpkgs-path", "/a\nb"), "cannot stand in a generated file"),
        (("2.6.5-cuda", "--nixpkgs-path", "/a", "--format", "docker"), "no flake is written"),
        (("2.6.0-cpu-macos", "--nixpkgs-path", "/a"), "the flakes are for Linux"),
    ],
)
def test_generate_refuses_a_folder_without_use(
    arguments: tuple[str, ...], says: str, tmp_path: Path
) -> None:
    done = run("generate", *arguments, "-o", str(tmp_path))
    assert done.returncode == 2
    assert says in done.stderr
    assert not list(tmp_path.iterdir())


def test_generate_json_has_its_shape(tmp_path: Path) -> None:
    done = run("generate", "2.6.5-cpu", "--format", "conda", "-o", str(tmp_path), "--json")
    document = json.loads(done.stdout)
    assert document["target"] == "2.6.5-cpu"
    assert {"path", "format", "purpose", "sha256"} == set(document["files"][0])


def test_list_filters() -> None:
    names = [e["name"] for e in json.loads(run("list", "--json", "--tf", "2.6").stdout)]
    assert "2.6.5-cuda" in names
    assert all(name.startswith("2.6.") for name in names)
    fits = json.loads(run("list", "--gpu", "rtx3090", "--python", "3.9", "--json").stdout)
    assert fits
    assert all("3.9" in e["pythons"] and e["variant"] == "cuda" for e in fits)
    assert not any(e["version"].startswith("1.") for e in fits)


def test_list_has_the_fields_of_the_contract() -> None:
    entry = json.loads(run("list", "--json", "--tf", "2.6.5").stdout)[0]
    wanted = {"name", "version", "variant", "platform", "product", "distribution", "python"}
    assert wanted | {"cuda", "bazel", "proven"} <= set(entry)


def test_a_lock_goes_round_through_generate(tmp_path: Path) -> None:
    assert run("generate", "2.6.5-cpu", "--format", "docker", "-o", str(tmp_path)).returncode == 0
    folder = tmp_path / "2.6.5-cpu"
    again = run(
        "generate",
        "2.6.5-cpu",
        "--format",
        "docker",
        "--lock",
        str(folder / "lock.toml"),
        "-o",
        str(tmp_path),
        "--check",
    )
    assert again.returncode == 0, again.stdout + again.stderr


def test_a_lock_and_choices_do_not_mix(tmp_path: Path) -> None:
    lock = tmp_path / "x.lock.toml"
    lock.write_text("format = 1", encoding="utf-8")
    done = run("generate", "2.6.5-cpu", "--lock", str(lock), "--python", "3.9")
    assert done.returncode == 2


def test_the_lock_of_another_target_is_refused(tmp_path: Path) -> None:
    assert run("generate", "2.6.5-cpu", "--format", "docker", "-o", str(tmp_path)).returncode == 0
    lock = tmp_path / "2.6.5-cpu" / "lock.toml"
    done = run("generate", "2.6.5-cuda", "--lock", str(lock))
    assert done.returncode == 2
    assert "2.6.5-cpu" in done.stderr


def test_lock_options_that_contradict() -> None:
    assert run("lock", "2.6.5-cpu", "--check", "--update").returncode == 2


def test_interruption_is_exit_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(cli.group, "main", interrupt)
    with pytest.raises(SystemExit) as caught:
        cli.main(["list"])
    assert caught.value.code == 130
