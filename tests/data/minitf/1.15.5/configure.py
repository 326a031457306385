"""configure.py of the 1.15 line: its questions, its bounds on Bazel, its files."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "third_party", "minitf"))

import configure_lib as lib

_QUESTION = ["--batch", "--bazelrc=/dev/null", "version"]
_TF_MIN_BAZEL_VERSION = "0.24.1"
_TF_MAX_BAZEL_VERSION = "0.26.1"


def main():
    conf = lib.Configuration(os.environ)
    lib.check_bazel(_QUESTION, _TF_MIN_BAZEL_VERSION, _TF_MAX_BAZEL_VERSION, conf.environ)
    lib.python(conf)
    if conf.ask_bool("TF_ENABLE_XLA", "Do you wish to build TensorFlow with XLA JIT support?", True):
        conf.write("build:xla --define with_xla_support=true")
        conf.write("build --config=xla")
    for name in ("TF_NEED_OPENCL_SYCL", "TF_NEED_ROCM", "TF_NEED_MPI", "TF_DOWNLOAD_CLANG"):
        conf.ask_bool(name, name, False)
    lib.cuda(conf, "3.5,7.0")
    lib.opt_flags(conf, "-march=native -Wno-sign-compare")
    conf.write("build:opt --define with_default_optimizations=true")
    conf.ask_bool("TF_SET_ANDROID_WORKSPACE", "Android?", False)
    conf.action_env("TF_CONFIGURE_IOS", "0")
    lib.finish(conf)


if __name__ == "__main__":
    main()
