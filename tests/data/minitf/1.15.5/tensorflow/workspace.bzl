"""External archives, in the style of the 1.15 line: one function for all."""

load("//third_party:repo.bzl", "tf_http_archive")

VERSION = "1.15.5"

def clean_dep(dep):
    """The label as seen from this workspace, whoever loads the file."""
    return str(Label(dep))

def tf_repositories(path_prefix = "", tf_repo_name = ""):
    if path_prefix:
        print("path_prefix was specified to tf_workspace but is no longer used")
    tf_http_archive(
        name = "minitf_answer",
        build_file = clean_dep("//third_party:answer.BUILD"),
        patch_file = clean_dep("//third_party:answer.patch"),
        sha256 = "9c7af820681af9906869e50ad6832b78777e527493434a9a3d9c360bb4eea985",
        strip_prefix = "answer-1.0",
        urls = [
            "http://127.0.0.1:38215/mirror/answer-1.0.tar.gz",
            "http://127.0.0.1:38215/answer-1.0.tar.gz",
        ],
    )
    tf_http_archive(
        name = "tensorflow_release",
        build_file = clean_dep("//third_party:release.BUILD"),
        sha256 = "29831dda98d668067de75403b2fca0d06a2f026ef6f217fa2ca873c20b4ee4d3",
        type = "zip",
        urls = [
            "http://127.0.0.1:38215/mirror/tensorflow-%s-cp37-cp37m-manylinux2010_x86_64.whl" % VERSION,
            "http://127.0.0.1:38215/tensorflow-%s-cp37-cp37m-manylinux2010_x86_64.whl" % VERSION,
        ],
    )
