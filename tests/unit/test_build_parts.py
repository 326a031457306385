"""The build's small parts: sources, Bazels, records, failures, one build at a time."""

from __future__ import annotations

import hashlib
import io
import json
import os
import platform
import signal
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import filelock
import msgspec
import pytest

from tests.wheel_maker import compile_library, make_wheel
from tfenv import lock as locks
from tfenv import toolchain
from tfenv.build import bazel, driver, failure, inspection, npm, record, run, source
from tfenv.build.commands import Command
from tfenv.build.events import Progress
from tfenv.errors import BuildError, DownloadError, HashMismatchError, MissingToolError, UsageError
from tfenv.fetch.cache import Cache
from tfenv.fetch.item import Item
from tfenv.fetch.stage import Source
from tfenv.files import write_text
from tfenv.target import parse
from tfenv.wheel.inspect import inspect

posix = pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX system")
TARGET = parse("2.6.5-cpu")


def tree(folder: Path, version: str = "2.6.5") -> Path:
    for name in ("configure", "WORKSPACE", "a/b.txt"):
        write_text(folder / name, name)
    write_text(folder / "tensorflow" / "tensorflow.bzl", f'VERSION = "{version}"\n')
    return folder


class TestSource:
    def test_a_tree_or_a_folder_with_one_per_version(self, tmp_path: Path) -> None:
        plain = tree(tmp_path / "plain")
        tree(tmp_path / "many" / "2.6.5")
        one = source.from_folder(plain, TARGET)
        other = source.from_folder(tmp_path / "many", TARGET)
        assert (one.kind, one.digest) == ("tree", other.digest)
        assert other.path == tmp_path / "many" / "2.6.5"

    def test_the_tree_of_another_release(self, tmp_path: Path) -> None:
        with pytest.raises(UsageError, match=r"2\.6\.4"):
            source.from_folder(tree(tmp_path / "t", "2.6.4"), TARGET)

    def test_a_folder_that_is_no_tree(self, tmp_path: Path) -> None:
        with pytest.raises(UsageError, match="source tree"):
            source.from_folder(tmp_path, TARGET)

    @posix
    def test_the_digest_sees_every_change(self, tmp_path: Path) -> None:
        folder = tree(tmp_path / "t")
        seen = {source.digest(folder)}
        write_text(folder / "a" / "b.txt", "changed")
        seen.add(source.digest(folder))
        (folder / "a" / "b.txt").chmod(0o755)
        seen.add(source.digest(folder))
        (folder / "a" / "b.txt").rename(folder / "a" / "c.txt")
        seen.add(source.digest(folder))
        assert len(seen) == 4
        before = source.digest(folder)
        (folder / "a" / "loop").symlink_to(folder)
        write_text(folder / ".git" / "index", "x")
        assert source.digest(folder) == before

    @posix
    def test_links_that_a_container_would_not_see(self, tmp_path: Path) -> None:
        folder = tree(tmp_path / "t")
        write_text(tmp_path / "beside" / "x.txt", "x")
        (folder / "inside").symlink_to(folder / "a")
        assert not source.leads_outside(folder)
        (folder / "outside").symlink_to(tmp_path / "beside")
        assert source.leads_outside(folder)
        whole = source.copy_whole(folder, tmp_path / "copy")
        assert (whole / "outside" / "x.txt").read_text() == "x"
        assert source.digest(whole) == source.digest(folder)


@posix
class TestBazel:
    def put(self, folder: Path, name: str, version: str) -> None:
        folder.mkdir(exist_ok=True)
        (folder / name).write_text(f"#!/bin/sh\necho bazel {version}\n")
        (folder / name).chmod(0o755)

    def find(self, tmp_path: Path) -> bazel.Bazel:
        locked = locks.make(toolchain.choose(TARGET))
        return bazel.find(TARGET, locked, Cache(tmp_path / "cache"), Source(offline=True))

    def test_by_version(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PATH", str(tmp_path / "bin"))
        self.put(tmp_path / "bin", "bazel", "9.1.0")
        with pytest.raises(MissingToolError, match=r"9\.1\.0"):
            self.find(tmp_path)
        self.put(tmp_path / "bin", "bazel-3", "3.99.0")
        assert self.find(tmp_path).version == "3.99.0"
        self.put(tmp_path / "bin", "bazel-3.7.2", "3.7.2")
        assert self.find(tmp_path).path == tmp_path / "bin" / "bazel-3.7.2"

    def test_without_a_number_it_is_the_last_choice(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("PATH", str(tmp_path / "bin"))
        self.put(tmp_path / "bin", "bazel", "no_version")
        assert self.find(tmp_path).version == "no_version"
        self.put(tmp_path / "bin", "bazel-real", "3.7.2")
        assert self.find(tmp_path).version == "3.7.2"

    def test_a_file_of_the_cache_becomes_a_program(self, tmp_path: Path) -> None:
        write_text(tmp_path / "cached", "#!/bin/sh\necho bazel 3.7.2\n")
        place = bazel.install(bazel.Bazel(tmp_path / "cached", "3.7.2"), tmp_path / "tools")
        assert bazel.version_of(place) == "3.7.2"
        assert not os.access(tmp_path / "cached", os.X_OK)


class TestRecord:
    def made(self, tmp_path: Path, name: str = "a.whl") -> tuple[Path, record.Record]:
        write_text(tmp_path / "made" / name, "wheel")
        entry = record.Record(
            target="x",
            inputs="1",
            engine="host",
            source="s",
            products=record.products(tmp_path / "made"),
        )
        return tmp_path / "made", entry

    def test_there_and_back(self, tmp_path: Path) -> None:
        made, entry = self.made(tmp_path)
        record.publish(made, tmp_path / "dist", entry)
        assert record.read(tmp_path / "dist") == entry

    @pytest.mark.parametrize("change", ["changed", None])
    def test_a_changed_product_is_no_product(self, tmp_path: Path, change: str | None) -> None:
        made, entry = self.made(tmp_path)
        record.publish(made, tmp_path / "dist", entry)
        path = tmp_path / "dist" / "a.whl"
        path.unlink()
        if change:
            write_text(path, change)
        assert record.read(tmp_path / "dist") is None

    def test_an_older_product_goes(self, tmp_path: Path) -> None:
        write_text(tmp_path / "dist" / "old.whl", "old")
        made, entry = self.made(tmp_path)
        record.publish(made, tmp_path / "dist", entry)
        assert sorted(p.name for p in (tmp_path / "dist").iterdir()) == ["a.whl", "build.json"]

    @pytest.mark.parametrize(
        "text", ["", "{}", "[]", '{"schema": 1, "products": [{"name": ".."}]}']
    )
    def test_a_damaged_record(self, tmp_path: Path, text: str) -> None:
        write_text(tmp_path / record.NAME, text)
        assert record.read(tmp_path) is None


class TestFailure:
    def explain(self, tmp_path: Path, log: str, step: str = "compile") -> Exception:
        write_text(tmp_path / "log", log)
        ended = run.Ended(code=1, step=step, steps={}, bazel=Progress())
        return failure.explain(
            ended, tmp_path / "log", {"https://h/x-1.tar.gz": "the_x"}, TARGET, "fix"
        )

    def test_the_compilers_error_before_bazels(self, tmp_path: Path) -> None:
        log = (
            "ERROR: /src/BUILD:8:1: C++ compilation of rule '//a:b' failed (Exit 1)\n"
            "a/b.cc:2:10: fatal error: x.h: No such file or directory\n"
            "FAILED: Build did NOT complete successfully\n"
        )
        error = self.explain(tmp_path, log)
        assert isinstance(error, BuildError)
        assert error.why == "a/b.cc:2:10: fatal error: x.h: No such file or directory"
        assert "compile" in error.what

    def test_a_cause_that_explain_knows(self, tmp_path: Path) -> None:
        log = (
            "virtual memory exhausted: Cannot allocate memory\n"
            "gcc: fatal error: Killed signal terminated program cc1plus\n"
        )
        error = self.explain(tmp_path, log)
        assert isinstance(error, BuildError)
        assert "memory" in error.what
        assert "--jobs" in error.fix

    def test_the_recipes_own_words(self, tmp_path: Path) -> None:
        log = "tfenv: step configure begin\ntfenv: configure did not write 'x'\n"
        error = self.explain(tmp_path, log)
        assert isinstance(error, BuildError)
        assert error.why == "configure did not write 'x'"

    def test_a_missing_archive_is_named_and_is_a_download_error(self, tmp_path: Path) -> None:
        log = (
            "Error in download: java.io.IOException: Error downloading [https://h/x-1.tar.gz, "
            "https://i/x-1.tar.gz] to /o/x-1.tar.gz: Unknown host: h\n"
        )
        error = self.explain(tmp_path, log)
        assert isinstance(error, DownloadError)
        assert error.exit_code == 4
        assert "the_x" in error.what
        assert "x-1.tar.gz" in error.what

    def test_a_download_that_is_switched_off(self, tmp_path: Path) -> None:
        log = (
            "Error in download_and_extract: java.io.IOException: Failed to download repo "
            "minitf_answer: download is disabled.\n"
        )
        error = self.explain(tmp_path, log)
        assert isinstance(error, DownloadError)
        assert "minitf_answer" in error.what

    @pytest.mark.parametrize(
        "said",
        [
            'Get "http://127.0.0.1:9/v2/": dial tcp 127.0.0.1:9: connect: connection refused',
            '#3 ERROR: failed to do request: Head "https://r/v2/x/manifests/1": dial tcp: refused',
            "Error response from daemon: pull access denied for x, repository does not exist",
            "manifest for ubuntu:18.05 not found: manifest unknown: manifest unknown",
        ],
    )
    def test_a_base_image_that_cannot_be_had(self, tmp_path: Path, said: str) -> None:
        log = f"Step 1/3 : ARG BASE_IMAGE=a\n{said}\n"
        error = self.explain(tmp_path, log, "image")
        assert isinstance(error, DownloadError)
        assert "--base-image" in error.fix
        # The same words of a program under test are no missing image.
        assert not isinstance(self.explain(tmp_path, log), DownloadError)

    @pytest.mark.parametrize("prefix", ["", "#7 1.234 "])
    def test_an_image_whose_download_is_another_file(self, tmp_path: Path, prefix: str) -> None:
        other = "tfenv: https://m/bazel is not the file that was locked"
        last = f"tfenv: no place has bazel with sha256 {'a' * 64}; the build stops here"
        error = self.explain(tmp_path, f"{prefix}{other}\n{prefix}{last}\n", "image")
        assert isinstance(error, HashMismatchError)
        assert "https://m/bazel" in error.why
        away = "tfenv: https://m/bazel did not answer; trying the next place"
        error = self.explain(tmp_path, f"{prefix}{away}\n{prefix}{last}\n", "image")
        assert isinstance(error, DownloadError)
        assert not isinstance(error, HashMismatchError)

    def test_a_place_that_did_not_answer_is_no_cause(self, tmp_path: Path) -> None:
        log = "tfenv: https://m/x did not answer; trying the next place\nE: Unable to locate package\n"
        error = self.explain(tmp_path, log, "image")
        assert isinstance(error, BuildError)
        assert error.why == "E: Unable to locate package"

    def test_another_programs_last_words(self, tmp_path: Path) -> None:
        error = self.explain(tmp_path, "Collecting\nPackagesNotFound\n\n", "environment")
        assert isinstance(error, BuildError)
        assert error.why == "PackagesNotFound"

    def test_an_empty_log(self, tmp_path: Path) -> None:
        error = self.explain(tmp_path, "")
        assert isinstance(error, BuildError)
        assert "status 1" in error.why


@posix
class TestRun:
    def test_steps_events_and_the_log(self, tmp_path: Path) -> None:
        seen: list[tuple[str, str]] = []
        script = (
            "echo 'tfenv: step unpack unchanged'; echo 'tfenv: step compile begin'; "
            "echo '[3 / 9] Compiling x.cc'; exit 3"
        )
        ended = run.run(
            Command(words=["sh", "-c", script]),
            {"PATH": os.environ["PATH"]},
            tmp_path / "log",
            tmp_path / "bep",
            run.Journal(tmp_path / "events.jsonl"),
            tmp_path / "leader",
            lambda update: seen.append((update.step, update.state)),
        )
        assert (ended.code, ended.step) == (3, "compile")
        assert ended.steps == {"unpack": "unchanged", "compile": "run"}
        assert (ended.bazel.done, ended.bazel.total) == (3, 9)
        assert ("compile", "begin") in seen
        assert "[3 / 9]" in (tmp_path / "log").read_text()
        lines = [json.loads(line) for line in (tmp_path / "events.jsonl").read_text().splitlines()]
        assert [line["event"] for line in lines][:2] == ["step", "step"]
        assert not (tmp_path / "leader").exists()

    def test_ctrl_c_ends_the_whole_group(self, tmp_path: Path) -> None:
        """The build's own child notes its process; after the interrupt it is gone."""
        note = tmp_path / "child"
        child = f"trap '' HUP; echo $$ > {note}; echo 'tfenv: step compile begin'; exec sleep 600"
        code = f"""
import os, sys
from pathlib import Path
from tfenv.build import run
from tfenv.build.commands import Command
from tfenv.errors import StoppedError
home = Path({str(tmp_path)!r})
show = lambda update: print("up", flush=True)
try:
    run.run(Command(words=["sh", "-c", {child!r}]), dict(os.environ), home / "log", home / "bep",
            run.Journal(home / "events.jsonl"), home / "leader", show)
except StoppedError as error:
    sys.exit(error.exit_code)
"""
        with subprocess.Popen(
            [sys.executable, "-c", code], stdout=subprocess.PIPE, cwd=Path(__file__).parents[2]
        ) as process:
            assert process.stdout is not None
            process.stdout.readline()
            process.send_signal(signal.SIGINT)
            assert process.wait(60) == 130
        with pytest.raises(ProcessLookupError):
            os.kill(int(note.read_text()), 0)
        assert '"interrupted"' in (tmp_path / "events.jsonl").read_text()

    def test_what_a_killed_build_left_running_is_ended(self, tmp_path: Path) -> None:
        words = ["sh", "-c", "echo up; while :; do sleep 0.1; done", str(tmp_path)]
        with subprocess.Popen(words, start_new_session=True, stdout=subprocess.PIPE) as left:
            assert left.stdout is not None
            left.stdout.readline()
            write_text(tmp_path / "leader", json.dumps({"pid": left.pid, "words": words}))
            try:
                assert run.stop_leftover(tmp_path / "leader")
                assert left.wait(10) == -signal.SIGTERM
            finally:
                left.kill()

    def test_a_strangers_process_is_left_alone(self, tmp_path: Path) -> None:
        write_text(tmp_path / "leader", json.dumps({"pid": os.getpid(), "words": ["bash", "x"]}))
        assert not run.stop_leftover(tmp_path / "leader")
        write_text(tmp_path / "leader", "rubbish")
        assert not run.stop_leftover(tmp_path / "leader")
        assert not run.stop_leftover(tmp_path / "absent")


def test_one_build_at_a_time(tmp_path: Path) -> None:
    with (
        filelock.FileLock(tmp_path / "lock"),
        pytest.raises(BuildError, match="another"),
        driver._alone(tmp_path),
    ):
        pass


class TestNpm:
    """A package that has the file, one that has another, one that is no archive."""

    def item(self, data: bytes) -> Item:
        url = "https://h.example/bazel-0.26.1-linux-x86_64"
        sha256 = hashlib.sha256(data).hexdigest()
        return Item(name="bazel", version="0.26.1", sha256=sha256, urls=[url])

    def package(self, tmp_path: Path, name: str, data: bytes) -> Path:
        path = tmp_path / "bazel.tgz"
        with tarfile.open(path, "w:gz") as tar:
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
        return path

    @pytest.mark.parametrize("name", ["package/bazel-0.26.1-linux-x86_64", "../../bazel-x"])
    def test_the_right_file_by_its_hash(self, tmp_path: Path, name: str) -> None:
        cache = Cache(tmp_path / "cache")
        packed = self.package(tmp_path / ".", name, b"bazel")
        assert npm._take(packed, self.item(b"bazel"), cache)
        assert cache.find(self.item(b"bazel").sha256) is not None

    def test_another_file(self, tmp_path: Path) -> None:
        cache = Cache(tmp_path / "cache")
        packed = self.package(tmp_path, "package/bazel-0.26.1-linux-x86_64", b"other")
        assert not npm._take(packed, self.item(b"bazel"), cache)
        assert cache.find(self.item(b"bazel").sha256) is None

    def test_no_archive(self, tmp_path: Path) -> None:
        write_text(tmp_path / "x.tgz", "no")
        assert not npm._take(tmp_path / "x.tgz", self.item(b"bazel"), Cache(tmp_path / "cache"))

    def test_versions_that_npm_does_not_carry_are_not_asked(self, tmp_path: Path) -> None:
        late = msgspec.structs.replace(self.item(b"bazel"), version="4.2.1")
        assert not npm.fetch(late, Cache(tmp_path))


class TestInspection:
    def look(self, tmp_path: Path, version: str, record_file: bytes | None = None) -> str:
        path = make_wheel(
            tmp_path, {"tensorflow/__init__.py": b""}, version=version, record=record_file
        )
        made = [record.Product(path.name, "", 0)]
        return inspection.look(tmp_path, made, TARGET, tmp_path / "fit").runs_on

    def test_a_wheel_of_the_target(self, tmp_path: Path) -> None:
        assert "CPython 3.7" in self.look(tmp_path, "2.6.5")
        assert "CPython 3.7" in self.look(tmp_path, "2.6.5+local")

    def test_another_release(self, tmp_path: Path) -> None:
        with pytest.raises(BuildError) as caught:
            self.look(tmp_path, "2.6.4")
        assert "2.6.4" in caught.value.why

    def test_a_wheel_whose_record_is_wrong(self, tmp_path: Path) -> None:
        with pytest.raises(BuildError, match="not right"):
            self.look(tmp_path, "2.6.5", b"tensorflow/__init__.py,sha256=AAAA,0\n")

    def test_libraries_are_taken_as_they_are(self, tmp_path: Path) -> None:
        write_text(tmp_path / "lib.so", "x")
        made = [record.Product("lib.so", "", 0)]
        looked = inspection.look(tmp_path, made, TARGET, tmp_path / "fit")
        assert looked == inspection.Looked()
        assert (tmp_path / "fit" / "lib.so").read_text() == "x"


@pytest.mark.skipif(platform.machine() != "x86_64", reason="names x86_64's tags")
class TestRepair:
    """Wheels around a library that is compiled on the spot."""

    def look(
        self, folder: Path, library: bytes, tag: str = "linux_x86_64"
    ) -> tuple[Path, inspection.Looked]:
        members = {"tensorflow/lib.so": library, "tensorflow/__init__.py": b""}
        wheel = make_wheel(folder / "made", members, version="2.6.5", tag=f"cp37-cp37m-{tag}")
        made = [record.Product(wheel.name, "", 0)]
        looked = inspection.look(folder / "made", made, TARGET, folder / "fit")
        (fit,) = (folder / "fit").iterdir()
        return fit, looked

    def test_a_wheel_gets_the_tag_that_it_honours(self, tmp_path: Path) -> None:
        library = compile_library(tmp_path / "c", 'extern "C" int f() { return 1; }', "-nostdlib")
        fit, looked = self.look(tmp_path / "one", library)
        assert fit.name == (
            "tensorflow_cpu-2.6.5-cp37-cp37m-manylinux1_x86_64.manylinux_2_5_x86_64.whl"
        )
        assert looked.tag == "manylinux_2_5_x86_64, which its libraries honour"
        with zipfile.ZipFile(fit) as pack:
            assert pack.testzip() is None
            text = pack.read("tensorflow_cpu-2.6.5.dist-info/WHEEL").decode()
            assert pack.read("tensorflow/lib.so") == library
        assert [line for line in text.splitlines() if line.startswith("Tag:")] == [
            "Tag: cp37-cp37m-manylinux1_x86_64",
            "Tag: cp37-cp37m-manylinux_2_5_x86_64",
        ]
        found = inspect(fit)
        assert (found.ok, found.record_ok, found.tags.honoured) == (True, True, True)
        again, _ = self.look(tmp_path / "two", library)
        assert again.read_bytes() == fit.read_bytes()

    def test_a_wheel_that_needs_another_library_keeps_its_tag(self, tmp_path: Path) -> None:
        compile_library(tmp_path, "int g() { return 1; }", "-Wl,-soname,libown.so.1", name="o.so")
        library = compile_library(
            tmp_path,
            "int g(); int f() { return g(); }",
            "-nostdlib",
            "-Wl,--no-as-needed",
            str(tmp_path / "o.so"),
        )
        fit, looked = self.look(tmp_path / "one", library)
        assert fit.name.endswith("-linux_x86_64.whl")
        assert "libown.so.1" in looked.tag

    def test_a_library_that_looks_in_a_folder_of_the_build_machine(self, tmp_path: Path) -> None:
        flags = ("-nostdlib", "-Wl,-rpath,/home/me/lib")
        library = compile_library(tmp_path / "c", 'extern "C" int f() { return 1; }', *flags)
        fit, looked = self.look(tmp_path / "one", library)
        assert fit.name.endswith("-linux_x86_64.whl")
        assert "/home/me/lib" in looked.tag

    def test_a_tag_that_was_chosen_is_left_alone(self, tmp_path: Path) -> None:
        library = compile_library(tmp_path / "c", 'extern "C" int f() { return 1; }', "-nostdlib")
        fit, looked = self.look(tmp_path / "one", library, "manylinux2014_x86_64")
        assert fit.name.endswith("-manylinux2014_x86_64.whl")
        assert looked.tag == ""
