"""External archives, in the style of the 2.6 line and later: some in files of their own."""

load("@bazel_tools//tools/build_defs/repo:http.bzl", "http_file")
load("//third_party:repo.bzl", "tf_http_archive")
load("//third_party/answer:workspace.bzl", answer = "repo")

_WHEEL = "tensorflow_cpu-2.8.4-cp310-cp310-manylinux2010_x86_64.whl"
_WHEEL_SHA256 = "be9e933164e9359ab81452416fb202de7ae404053c530d859e50f0930fafd4ef"

def _initialize_third_party():
    answer()

def _tf_repositories():
    tf_http_archive(
        name = "tensorflow_release",
        build_file = "//third_party:release.BUILD",
        sha256 = _WHEEL_SHA256,
        type = "zip",
        urls = [
            "http://127.0.0.1:38215/mirror/" + _WHEEL,
            "http://127.0.0.1:38215/" + _WHEEL,
        ],
    )
    http_file(
        name = "tensorflow_release_wheel",
        downloaded_file_path = _WHEEL,
        sha256 = _WHEEL_SHA256,
        urls = ["http://127.0.0.1:38215/" + _WHEEL],
    )

def workspace():
    _initialize_third_party()
    _tf_repositories()

tf_workspace2 = workspace
