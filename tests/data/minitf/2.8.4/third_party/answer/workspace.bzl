"""Provides the repository macro to import the answer."""

load("//third_party:repo.bzl", "tf_http_archive")

def repo():
    """Imports the answer."""
    ANSWER_VERSION = "1.0"
    tf_http_archive(
        name = "minitf_answer",
        build_file = "//third_party/answer:answer.BUILD",
        patch_file = "//third_party/answer:answer.patch",
        sha256 = "9c7af820681af9906869e50ad6832b78777e527493434a9a3d9c360bb4eea985",
        strip_prefix = "answer-{version}".format(version = ANSWER_VERSION),
        urls = [
            "http://127.0.0.1:38215/mirror/answer-{version}.tar.gz".format(version = ANSWER_VERSION),
            "http://127.0.0.1:38215/answer-{version}.tar.gz".format(version = ANSWER_VERSION),
        ],
    )
