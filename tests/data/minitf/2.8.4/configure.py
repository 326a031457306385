"""configure.py of the 2.8 line: its questions, its bounds on Bazel, its files."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "third_party", "minitf"))

import configure_lib as lib

_QUESTION = ["--version"]
_TF_MIN_BAZEL_VERSION = "4.2.1"
_TF_MAX_BAZEL_VERSION = "4.99.0"


def main():
    conf = lib.Configuration(os.environ)
    lib.check_bazel(_QUESTION, _TF_MIN_BAZEL_VERSION, _TF_MAX_BAZEL_VERSION, conf.environ)
    lib.python(conf)
    for name in ("TF_NEED_ROCM", "TF_DOWNLOAD_CLANG"):
        conf.ask_bool(name, name, False)
    lib.cuda(conf, "3.5,7.0")
    lib.opt_flags(conf, "-Wno-sign-compare")
    conf.ask_bool("TF_SET_ANDROID_WORKSPACE", "Android?", False)
    conf.write("test --flaky_test_attempts=3")
    lib.finish(conf)


if __name__ == "__main__":
    main()
