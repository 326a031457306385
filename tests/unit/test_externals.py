"""Bazel's externals, read from small trees of the shapes that TensorFlow's trees have had."""

from __future__ import annotations

import hashlib
import io
import tarfile
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

import pytest

from tfenv.errors import FileFormatError, UnsafeValueError
from tfenv.fetch.externals import follow, names
from tfenv.fetch.externals.downloader import config
from tfenv.fetch.externals.evaluate import Unread, evaluate
from tfenv.fetch.externals.record import External, Externals, externals
from tfenv.fetch.externals.tree import Tree, of_archive, of_folder
from tfenv.fetch.item import Item, Outcome

starlark = pytest.importorskip("starlark", reason="needs the optional part 'build'")

ONE, TWO, THREE = ("1" * 64, "2" * 64, "3" * 64)
MINITF = Path(__file__).parents[1] / "data" / "minitf"


def read(files: dict[str, str], repositories: dict[str, Tree] | None = None) -> Externals:
    return externals(evaluate(Tree(files), repositories, "3.7.2"))


def simple(found: Externals) -> list[tuple[str, str]]:
    return [(one.name, one.sha256[:1]) for one in found.archives]


REPO = """
def _impl(ctx):
    ctx.download_and_extract(ctx.attr.urls)

def _use_system_lib(ctx, name):
    return name in ctx.os.environ.get("TF_SYSTEM_LIBS", "")

_tf_http_archive = repository_rule(
    implementation = _impl,
    attrs = {
        "sha256": attr.string(mandatory = True),
        "urls": attr.string_list(mandatory = True),
        "type": attr.string(default = "zip"),
        "patch_file": attr.label(),
    },
)

def tf_mirror_urls(url):
    if not url.startswith("https://"):
        return [url]
    return ["https://mirror.example/%s" % url[8:], url]

def tf_http_archive(name, sha256, urls, **kwargs):
    if len(urls) < 2:
        fail("tf_http_archive(urls) must have redundant URLs.")
    if native.existing_rule(name):
        print("\\n\\033[1;33mWarning:\\033[0m skipping import of repository '" + name + "'")
        return
    _tf_http_archive(name = name, sha256 = sha256, urls = urls, **kwargs)
"""


def test_the_oldest_style() -> None:
    """1.4: native rules, in WORKSPACE and in one function; options in named arguments."""
    found = read(
        {
            "WORKSPACE": f"""workspace(name = "org_tensorflow")

http_archive(
    name = "io_bazel_rules_closure",
    sha256 = "{ONE}",
    strip_prefix = "rules_closure-4af",
    urls = ["http://mirror.example/a.tar.gz", "https://h.example/a.tar.gz"],
)

load("@io_bazel_rules_closure//closure:defs.bzl", "closure_repositories")

closure_repositories()

load("//tensorflow:workspace.bzl", "tf_workspace")

tf_workspace()

new_http_archive(name = "models", build_file = "models.BUILD", sha256 = "{THREE}", url = "https://h.example/m.zip")
""",
            "tensorflow/workspace.bzl": f"""
load("@io_bazel_rules_closure//closure/private:java_import_external.bzl", "java_import_external")

def _is_windows(repository_ctx):
    return repository_ctx.os.name.lower().find("windows") != -1

def _temp_workaround_http_archive_impl(repo_ctx):
    repo_ctx.template("BUILD", repo_ctx.attr.build_file, {{"%prefix%": ".."}}, False)

temp_workaround_http_archive = repository_rule(
    implementation = _temp_workaround_http_archive_impl,
    attrs = {{"sha256": attr.string(default = ""), "urls": attr.string_list(default = [])}},
)

def check_version(x):
    if native.bazel_version == "":
        fail("no version")

def tf_workspace(path_prefix = "", tf_repo_name = ""):
    check_version("0.5.4")
    native.new_http_archive(
        name = "zlib_archive",
        urls = ["https://h.example/zlib.tar.gz"],
        sha256 = "{TWO}",
        build_file = str(Label("//third_party:zlib.BUILD")),
    )
    temp_workaround_http_archive(name = "highwayhash", urls = ["https://h.example/h.tgz"], sha256 = "{THREE}")
    java_import_external(
        name = "junit",
        jar_sha256 = "{ONE}",
        jar_urls = ["https://h.example/junit.jar"],
        licenses = ["notice"],
    )
    native.bind(name = "zlib", actual = "@zlib_archive//:zlib")
""",
        }
    )
    assert simple(found) == [
        ("io_bazel_rules_closure", "1"),
        ("zlib_archive", "2"),
        ("highwayhash", "3"),
        ("junit", "1"),
        ("models", "3"),
    ]
    assert found.archives[1].defined_in == "tensorflow/workspace.bzl:21"
    assert found.archives[1].reached_by == "WORKSPACE:16 > tensorflow/workspace.bzl:21"
    assert found.archives[3].part == "jar"
    assert (
        Unread("@io_bazel_rules_closure//closure:defs.bzl", "closure_repositories") in found.unread
    )
    assert found.failures == []


def test_the_middle_style() -> None:
    """2.6: WORKSPACE only loads; files per library; a mirror first; doubles are skipped."""
    found = read(
        {
            "WORKSPACE": """workspace(name = "org_tensorflow")
load("@//tensorflow:workspace3.bzl", "workspace")
workspace()
load("@//tensorflow:workspace2.bzl", workspace2 = "workspace")
workspace2()
""",
            "tensorflow/workspace3.bzl": f"""
load("@bazel_tools//tools/build_defs/repo:http.bzl", "http_archive")
load("@bazel_tools//tools/build_defs/repo:utils.bzl", "maybe", "patch")

def workspace():
    http_archive(name = "rules_x", sha256 = "{ONE}", urls = ["https://h.example/x.tgz"], patches = ["//p:x.patch"])
    maybe(http_archive, name = "rules_x", sha256 = "{TWO}", urls = ["https://h.example/other.tgz"])
    maybe(repo_rule = http_archive, name = "rules_y", sha256 = "{TWO}", urls = ["https://h.example/y.tgz"])
""",
            "tensorflow/workspace2.bzl": """
load("//third_party:repo.bzl", "tf_http_archive")
load("//third_party/eigen3:workspace.bzl", eigen3 = "repo")

def workspace():
    eigen3()
    eigen3()
""",
            "third_party/eigen3/workspace.bzl": f'''
"""Eigen."""

load("//third_party:repo.bzl", "tf_http_archive")

def repo():
    COMMIT = "3f9"
    tf_http_archive(
        name = "eigen_archive",
        patch_file = "//third_party/eigen3:x.patch",
        sha256 = "{THREE}",
        urls = [
            "https://mirror.example/eigen-{{c}}.tar.gz".format(c = COMMIT),
            "https://h.example/eigen-{{c}}.tar.gz".format(c = COMMIT),
        ],
    )
''',
            "third_party/repo.bzl": REPO,
        }
    )
    assert simple(found) == [("rules_x", "1"), ("rules_y", "2"), ("eigen_archive", "3")]
    eigen = found.archives[2]
    assert eigen.urls == [
        "https://mirror.example/eigen-3f9.tar.gz",
        "https://h.example/eigen-3f9.tar.gz",
    ]
    assert eigen.defined_in == "third_party/eigen3/workspace.bzl:8"
    assert eigen.type == "zip"  # the rule's default
    assert eigen.patches == ["//third_party/eigen3:x.patch"]
    assert found.archives[0].patches == ["//p:x.patch"]


def test_the_newest_style() -> None:
    """2.18 and later: vendored repositories, derived mirrors, constants of absent files."""
    found = read(
        {
            "WORKSPACE": """workspace(name = "org_tensorflow")
load("@//tensorflow:workspace3.bzl", "tf_workspace3")
tf_workspace3()
load("@rules_python//python:repositories.bzl", "py_repositories")
py_repositories()
load("@local_xla//tools:hermetic.bzl", "hermetic")
hermetic()
load("@python_version_repo//:py_version.bzl", "HERMETIC_PYTHON_VERSION")
load("@rules_ml_toolchain//cc/deps:deps.bzl", "DISTRIBUTIONS", "deps", "helpers")
helpers.configure(version = "python" + HERMETIC_PYTHON_VERSION, table = DISTRIBUTIONS.get("x"))
nonsense()
deps(name = "late")
load("@local_xla//:last.bzl", "last")
last()
""",
            "tensorflow/workspace3.bzl": """
load("//third_party:tf_vendored.bzl", "tf_vendored")

def workspace():
    tf_vendored(name = "local_xla", relpath = "third_party/xla")

tf_workspace3 = workspace
""",
            "third_party/tf_vendored.bzl": """
def _impl(ctx):
    ctx.symlink(ctx.path(ctx.attr.parent).dirname.get_child(ctx.attr.relpath), "")

tf_vendored = repository_rule(
    implementation = _impl,
    attrs = {"parent": attr.label(default = "//:WORKSPACE"), "relpath": attr.string()},
)
""",
            "third_party/xla/tools/hermetic.bzl": """
load("//third_party:repo.bzl", "tf_http_archive", "tf_mirror_urls")
load(":relative.bzl", "SHA")

CcInfoAlias = CcInfo

def hermetic():
    tf_http_archive(
        name = "rules_ml",
        sha256 = SHA,
        urls = tf_mirror_urls("https://h.example/r.tar.gz"),
        patch_file = [Label("//third_party:a.patch"), "//third_party:b.patch"],
    )
""",
            "third_party/xla/tools/relative.bzl": f'SHA = "{ONE}"\n',
            "third_party/xla/third_party/repo.bzl": REPO,
            "third_party/xla/last.bzl": f"""
load("@bazel_tools//tools/build_defs/repo:http.bzl", "http_file")

last = lambda: [http_file(name = n, sha256 = "{TWO}", url = "https://h.example/%s" % n) for n in ("a", "b")]
""",
        }
    )
    assert simple(found) == [("rules_ml", "1"), ("a", "2"), ("b", "2")]
    assert found.archives[0].urls[0] == "https://mirror.example/h.example/r.tar.gz"
    assert found.archives[0].patches == ["//third_party:a.patch", "//third_party:b.patch"]
    labels = {(one.label, one.symbol) for one in found.unread}
    assert ("@rules_python//python:repositories.bzl", "py_repositories") in labels
    assert ("@rules_ml_toolchain//cc/deps:deps.bzl", "helpers.configure") in labels
    assert len(found.items()) == 3


def test_what_no_cache_can_serve_is_listed() -> None:
    found = read(
        {
            "WORKSPACE": f"""
load("@bazel_tools//tools/build_defs/repo:git.bzl", "git_repository")
load("@x//:y.bzl", "container_pull", "filegroup_external")
git_repository(name = "g", remote = "https://h.example/g.git", commit = "abc")
container_pull(name = "c", registry = "gcr.example", repository = "a/b", digest = "sha256:{ONE}")
http_archive(name = "h", urls = ["https://h.example/h.zip"])
http_archive(name = "short", urls = ["https://h.example/s.zip"], sha256 = "123")
filegroup_external(name = "licence", sha256_urls = {{"{TWO}": ["https://h.example/LICENSE"]}}, sha256_urls_extract_macos = {{"{THREE}": ["https://h.example/mac"]}})
""",
        }
    )
    assert [one.name for one in found.unhashed] == ["g", "c", "h", "short"]
    assert found.unhashed[0].source == "git https://h.example/g.git abc"
    assert simple(found) == [("licence", "2"), ("licence", "3")]
    assert found.archives[1].part == "extract_macos"


def test_integrity_instead_of_sha256() -> None:
    found = read(
        {
            "WORKSPACE": """
http_archive(name = "i", url = "https://h.example/i", integrity = "sha256-ERERERERERERERERERERERERERERERERERERERERERE=")
http_archive(name = "j", url = "https://h.example/j", integrity = "sha384-xx")
""",
        }
    )
    assert [(one.name, one.sha256) for one in found.archives] == [("i", "1" * 64)]
    assert [one.name for one in found.unhashed] == ["j"]


@pytest.mark.parametrize(
    "broken",
    [
        "def loop():\n    loop()\nloop()\n",
        "[x for x in range(10)][99]\n",
        'fail("stop")\n',
        "load('//absent:file.bzl', 'a')\na.b.c.d()\n",
        "load('//broken.bzl', 'x')\nx()()\n",
        "x = struct(a = 1).b\n",
    ],
)
def test_a_failure_does_not_hide_the_rest(broken: str) -> None:
    rest = f'http_archive(name = "after", sha256 = "{ONE}", urls = ["https://h.example/a"])\n'
    found = read({"WORKSPACE": broken + rest, "broken.bzl": "def x(:\n"})
    assert simple(found) == [("after", "1")]
    assert found.failures


def test_hostile_code_reaches_nothing(tmp_path: Path) -> None:
    found = read(
        {
            "WORKSPACE": f"""
open("{tmp_path}/x", "w")
__import__("os").system("touch {tmp_path}/y")
load("../../../../etc/hostname", "z")
load("@../../x//:y.bzl", "w")
local_repository(name = "up", path = "../../..")
load("@up//etc:x.bzl", "v")
""",
        }
    )
    assert list(tmp_path.iterdir()) == []
    assert found.archives == []


def test_what_bazel_gives_beside_rules() -> None:
    found = read(
        {
            "WORKSPACE": 'load("//:rules.bzl", "declare")\ndeclare()\n',
            "rules.bzl": f"""
Info, _new = provider(fields = ["x"], init = lambda **k: k)
Other = provider()

def _impl(ctx, attr = None):
    return attr

my_rule = rule(implementation = _impl, attrs = {{"deps": attr.label_list(providers = [Info, CcInfo])}})
my_aspect = aspect(implementation = _impl, attr_aspects = ["deps"])
CONFIG = select({{"//conditions:default": []}})

def declare():
    for name, version in {{"a": "1", "b": "2"}}.items():
        if native.bazel_version and not native.existing_rule(name):
            native.http_archive(name = name, sha256 = "{ONE}", urls = ["https://h/%s-%s" % (name, version)])
""",
        }
    )
    assert [one.urls for one in found.archives] == [["https://h/a-1"], ["https://h/b-2"]]
    assert found.failures == []


def test_files_that_load_each_other_end() -> None:
    found = read(
        {
            "WORKSPACE": 'load("//:a.bzl", "a")\na()\n',
            "a.bzl": 'load("//:b.bzl", "b")\na = b\n',
            "b.bzl": 'load("//:a.bzl", "a")\nb = a\n',
        }
    )
    assert found.archives == []


def test_no_workspace() -> None:
    with pytest.raises(FileFormatError, match="WORKSPACE"):
        read({"a.bzl": ""})


def packed(files: dict[str, str]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        for name, text in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(text.encode())
            tar.addfile(info, io.BytesIO(text.encode()))
    return buffer.getvalue()


def test_rule_repositories_are_fetched_and_read(tmp_path: Path) -> None:
    inner = f'def deps():\n    native.http_archive(name = "inner", sha256 = "{TWO}", urls = ["https://h/i"])\n'
    data = packed({"rules-1/x/deps.bzl": inner, "rules-1/big.bin": "x"})
    sha = hashlib.sha256(data).hexdigest()
    (tmp_path / "file").write_bytes(data)
    asked: list[list[str]] = []

    def fetch(items: Sequence[Item]) -> list[Outcome]:
        asked.append([item.name for item in items])
        return [
            Outcome(item=item, status="cached", path=tmp_path / "file")
            if item.sha256 == sha
            else Outcome(item=item, status="failed")
            for item in items
        ]

    workspace = f"""
http_archive(name = "rules", sha256 = "{sha}", strip_prefix = "rules-1", urls = ["https://h/r.tgz"])
http_archive(name = "gone", sha256 = "{ONE}", urls = ["https://h/g.tgz"])
load("@rules//x:deps.bzl", "deps")
deps()
load("@gone//:x.bzl", "gone")
gone()
"""
    found = follow.read(Tree({"WORKSPACE": workspace}), fetch)
    assert [one.name for one in found.archives] == ["rules", "gone", "inner"]
    assert asked == [["gone", "rules"]]
    assert found.unread == [Unread("@gone//:x.bzl", "gone")]


class TestTrees:
    FILES: ClassVar = {"top/WORKSPACE": "a", "top/x/y.bzl": "b", "top/x/z.cc": "c"}

    def test_a_tar_and_a_zip(self, tmp_path: Path) -> None:
        (tmp_path / "tar").write_bytes(packed(self.FILES))
        with zipfile.ZipFile(tmp_path / "zip", "w") as pack:
            for name, text in self.FILES.items():
                pack.writestr(name, text)
        for name in ("tar", "zip"):
            assert of_archive(tmp_path / name).files == {"WORKSPACE": "a", "x/y.bzl": "b"}
            assert of_archive(tmp_path / name, "top/x").files == {"y.bzl": "b"}

    @pytest.mark.parametrize(
        "data", [b"", b"not an archive", b"\x1f\x8b\x08\0\0\0\0\0\0\0", b"PK\5\6"]
    )
    def test_damage(self, tmp_path: Path, data: bytes) -> None:
        (tmp_path / "x").write_bytes(data)
        with pytest.raises(FileFormatError):
            of_archive(tmp_path / "x")

    def test_a_cut_archive(self, tmp_path: Path) -> None:
        data = packed({f"t/{n}.bzl": str(n) * 1000 for n in range(50)})
        (tmp_path / "x").write_bytes(data[: len(data) // 2])
        with pytest.raises(FileFormatError):
            of_archive(tmp_path / "x")

    def test_minitf(self) -> None:
        for version in ("1.15.5", "2.8.4"):
            found = externals(evaluate(of_folder(MINITF / version)))
            assert {one.name for one in found.archives} == {
                "minitf_answer",
                "tensorflow_release",
                "tensorflow_release_wheel",
            }
            assert (found.unread, found.failures) == ([], [])
            assert len({item.sha256 for item in found.items()}) == 2


def test_names() -> None:
    found = names.of(
        'load("//a", "b", c = "d")\ndef f(x):\n    y = Label(x).name\n    return b + c + struct()\n'
    )
    assert found.free == {"Label"}
    shadowed = names.of("def f(attr):\n    return attr\nx = attr.string()\n")
    assert not shadowed.free
    assert shadowed.outer == {"attr"}
    other = names.of('load("a.bzl", x = "y", "z")\nFoo.bar(z, x)\n')  # Python cannot parse it
    assert "Foo" in other.free
    assert other.free.isdisjoint({"x", "z"})
    assert other.attributes["Foo"] == {"bar"}


def test_a_mirror_for_bazels_own_downloads() -> None:
    assert config("https://mirror.example/tf/") == (
        "rewrite (.*) mirror.example/tf/$1\nrewrite (.*) $1\n"
    )
    for bad in ("", "https://a b", "https://x/$1\nallow y"):
        with pytest.raises(UnsafeValueError):
            config(bad)


def test_the_first_declaration_counts() -> None:
    archives = [
        External(name="a", rule="r", urls=["x"], sha256=ONE),
        External(name="a", rule="r", urls=["y"], sha256=TWO),
    ]
    assert Externals(archives=archives).by_name()["a"].sha256 == ONE
