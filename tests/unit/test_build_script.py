"""build.sh: accepted by bash and shellcheck, resumable, and the same for every engine."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tfenv import lock as locks
from tfenv import toolchain
from tfenv.build import driver
from tfenv.build.commands import Options
from tfenv.build.engines import ENGINES, EngineName
from tfenv.fetch.cache import Cache
from tfenv.lock.model import Lock
from tfenv.render import plan as plans
from tfenv.render import recipe
from tfenv.render.mirrors import Mirrors
from tfenv.target import parse

pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
TARGETS = ("1.15.5-cpu", "2.6.5-cpu", "2.6.5-cuda", "2.21.0-cuda", "2.6.5-cpu-cc")


def lock_of(name: str) -> Lock:
    return locks.make(toolchain.choose(parse(name)))


def script_of(name: str) -> str:
    return recipe.script(plans.make(lock_of(name), Mirrors()))


def lint(path: Path) -> None:
    subprocess.run(["bash", "-n", path], check=True)
    if shutil.which("shellcheck"):
        done = subprocess.run(["shellcheck", path], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("name", TARGETS)
def test_shells_accept_it(tmp_path: Path, name: str) -> None:
    path = tmp_path / "build.sh"
    path.write_text(script_of(name))
    lint(path)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_rehearsal_is_a_script(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: EngineName
) -> None:
    monkeypatch.chdir(tmp_path)
    request = driver.Request(
        target=parse("2.6.5-cuda"),
        lock=lock_of("2.6.5-cuda"),
        engine=engine,
        options=Options(jobs=3),
    )
    text = driver.rehearse(request, Cache(tmp_path / "cache"))
    path = tmp_path / "dry.sh"
    path.write_text(text)
    lint(path)
    assert script_of("2.6.5-cuda").rstrip("\n") in text
    assert "TFENV_JOBS=3" in text
    assert sorted(p.name for p in tmp_path.iterdir()) == ["dry.sh"]
    words = {
        "docker": "docker run",
        "nix": "nix --extra-experimental-features",
        "conda": "conda run",
        "host": "bash ",
    }
    assert words[engine] in text


def test_an_offline_container_has_no_network(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    request = driver.Request(
        target=parse("2.6.5-cpu"), lock=lock_of("2.6.5-cpu"), options=Options(offline=True)
    )
    assert "--network none" in driver.rehearse(request, Cache(tmp_path))


def test_every_answer_that_has_a_trap_is_given() -> None:
    old, new = script_of("2.6.5-cuda"), script_of("2.21.0-cuda")
    # 2.6 falls back to CUDA 10 and cuDNN 7, 2.18 and newer to capabilities 3.5 and 7.0.
    assert "export TF_CUDA_VERSION=11" in old
    assert "export TF_CUDNN_VERSION=8" in old
    assert "export HERMETIC_CUDA_COMPUTE_CAPABILITIES=" in new
    assert "--experimental_repository_disable_download" in new
    assert "--experimental_repository_disable_download" not in old  # Bazel 3.7.2 has no such flag


def test_a_remote_executor_overrides_what_the_tree_says() -> None:
    """TensorFlow's .bazelrc says `standalone`; Bazel takes a list of strategies from 0.27 on."""
    new, old = script_of("2.6.5-cpu"), script_of("1.15.5-cpu")
    assert '"--spawn_strategy=remote,local" "--strategy=Genrule=remote,local"' in new
    assert '"--spawn_strategy=remote" "--strategy=Genrule=remote"' in old


# The steps, with a Bazel and a configure that only note that they were called.

FAKE_CONFIGURE = """#!/bin/sh
echo configure >> "$NOTES"
printf 'build --action_env PYTHON_BIN_PATH="%s"\\n' "$PYTHON_BIN_PATH" > .tf_configure.bazelrc
"""
FAKE_BAZEL = """#!/bin/sh
echo bazel >> "$NOTES"
if [ -n "$FAIL" ]; then echo "a.cc:1:2: error: bad"; exit 1; fi
mkdir -p bazel-bin/tensorflow/tools/pip_package
printf '#!/bin/sh\\necho package >> "%s"\\necho made > "$1/x.whl"\\n' "$NOTES" \\
  > bazel-bin/tensorflow/tools/pip_package/build_pip_package
chmod +x bazel-bin/tensorflow/tools/pip_package/build_pip_package
"""


class Bench:
    """A work folder with a faked tree and Bazel."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.tree = root / "tree"
        self.tree.mkdir()
        self.write("tree/configure", FAKE_CONFIGURE)
        self.write("bin/bazel", FAKE_BAZEL)
        self.write("build.sh", script_of("2.6.5-cpu"))

    def write(self, name: str, text: str) -> None:
        path = self.root / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)

    def run(self, digest: str = "one", **more: str) -> tuple[int, list[str], str]:
        """The exit status, what was called, and the output."""
        notes = self.root / "notes"
        notes.write_text("")
        env = {
            "PATH": f"{self.root / 'bin'}{os.pathsep}{os.environ['PATH']}",
            "PYTHON_BIN_PATH": sys.executable,
            "NOTES": str(notes),
            "FAIL": "",
            "TFENV_WORK": str(self.root / "work"),
            "TFENV_SOURCE_DIGEST": digest,
            **more,
        }
        done = subprocess.run(
            ["bash", self.root / "build.sh", self.tree, self.root / "out"],
            env=env,
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, notes.read_text().split(), done.stdout + done.stderr


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def test_a_second_run_does_nothing(bench: Bench) -> None:
    assert bench.run()[:2] == (0, ["configure", "bazel", "package"])
    assert (bench.root / "out" / "x.whl").read_text() == "made\n"
    code, called, output = bench.run()
    assert (code, called) == (0, [])
    assert output.count("unchanged") == 6


def test_another_source_starts_over(bench: Bench) -> None:
    bench.run()
    assert bench.run("two")[1] == ["configure", "bazel", "package"]


def test_another_python_is_configured_again(bench: Bench) -> None:
    bench.run()
    other = bench.root / "python"
    other.symlink_to(sys.executable)
    assert "configure" in bench.run(PYTHON_BIN_PATH=str(other))[1]


def test_a_failed_step_is_tried_again_and_those_before_are_kept(bench: Bench) -> None:
    assert bench.run(FAIL="1")[:2] == (1, ["configure", "bazel"])
    assert bench.run()[:2] == (0, ["bazel", "package"])


def test_a_lost_stamp_does_the_later_steps_again(bench: Bench) -> None:
    bench.run()
    (bench.root / "work" / "stamps" / "configure").unlink()
    assert bench.run()[1] == ["configure", "bazel", "package"]


def test_killed_between_collecting_and_its_stamp(bench: Bench) -> None:
    """`package` is done, so what it made has to be there still when `collect` is done again."""
    bench.run()
    (bench.root / "work" / "stamps" / "collect").unlink()
    code, called, output = bench.run()
    assert (code, called) == (0, []), output
    assert (bench.root / "out" / "x.whl").read_text() == "made\n"


def test_a_configure_that_does_not_listen_is_caught(bench: Bench) -> None:
    bench.write("tree/configure", "#!/bin/sh\necho 'build --config=cuda' > .tf_configure.bazelrc\n")
    code, _, output = bench.run()
    assert code == 1
    assert "configure did not write 'PYTHON_BIN_PATH=" in output


def test_a_cpu_build_that_became_cuda_is_caught(bench: Bench) -> None:
    bench.write(
        "tree/configure", FAKE_CONFIGURE + "echo 'build --config=cuda' >> .tf_configure.bazelrc\n"
    )
    code, _, output = bench.run()
    assert code == 1
    assert "configure wrote '--config=cuda'" in output


def test_answers_of_an_earlier_configure_do_not_survive(bench: Bench) -> None:
    bench.write("tree/.tf_configure.bazelrc", "build --config=cuda\n")
    bench.write("tree/configure", FAKE_CONFIGURE.replace("> .tf", ">> .tf"))
    assert bench.run()[0] == 0


def test_without_a_work_folder_the_tree_is_built_in_place(bench: Bench) -> None:
    assert bench.run(TFENV_WORK="")[0] == 0
    assert (bench.root / "out" / "x.whl").exists()
    assert (bench.tree / "bazel-bin").exists()


def test_the_users_tree_is_left_alone(bench: Bench) -> None:
    before = sorted(p.name for p in bench.tree.iterdir())
    bench.run()
    assert sorted(p.name for p in bench.tree.iterdir()) == before


def test_other_files_in_the_output_folder_stay(bench: Bench) -> None:
    bench.write("out/mine.txt", "mine")
    bench.run()
    assert (bench.root / "out" / "mine.txt").read_text() == "mine"
