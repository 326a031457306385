"""What the build says about itself is what was asked for."""

import importlib
import os
import re
import sys

from tfsuite.checks import check, require, same
from tfsuite.releases import numbers


@check(
    "device.version",
    proves="The package, the native library and the target agree on the version.",
    catches=["wrong-version"],
)
def check_version(tf, tf1, expect):
    same("tf.__version__", tf.__version__, expect["version"])
    git = getattr(tf1, "GIT_VERSION", None) or tf.version.GIT_VERSION
    git = git.decode() if isinstance(git, bytes) else git
    if git.startswith("b'"):  # 1.13 made text of bytes with their quotes
        git = git[2:-1]
    wanted = expect.get("git_version")
    if wanted:
        same("GIT_VERSION", git, wanted)
    return "%s, %s" % (tf.__version__, git)


@check(
    "device.packages",
    proves="The installed packages have exactly the locked versions.",
    catches=["other-numpy"],
)
def check_packages(expect):
    have = installed()
    wrong = [
        "%s is %s, locked %s" % (name, have.get(name, "absent"), version)
        for name, version in sorted(expect["packages"].items())
        if have.get(name) != version
    ]
    require(not wrong, "; ".join(wrong[:5]))
    return "%d packages" % len(expect["packages"])


def installed():
    """Normalised name -> version of every distribution beside TensorFlow."""
    found = {}
    for folder in sys.path:
        if not os.path.isdir(folder):
            continue
        for entry in os.listdir(folder):
            match = re.match(r"(.+?)-([^-]+)(-py\d\.\d+)?\.(dist-info|egg-info)$", entry)
            if match:
                name = re.sub(r"[-_.]+", "-", match.group(1)).lower()
                found.setdefault(name, match.group(2))
    return found


def build_info(tf, expect):
    """The build's own record: sysconfig.get_build_info() from 2.3, a private module before."""
    if hasattr(getattr(tf, "sysconfig", None), "get_build_info"):
        return dict(tf.sysconfig.get_build_info())
    module = importlib.import_module("tensorflow.python.platform.build_info")
    names = ("is_cuda_build", "cuda_version_number", "cudnn_version_number")
    record = {name: getattr(module, name) for name in names if hasattr(module, name)}
    renamed = {"cuda_version_number": "cuda_version", "cudnn_version_number": "cudnn_version"}
    return {renamed.get(key, key): value for key, value in record.items()}


@check(
    "device.build_info",
    proves="CUDA, cuDNN and GPU architectures that the build claims equal the facts.",
    catches=["claims-cuda"],
)
def check_build_info(tf, expect):
    record = build_info(tf, expect)
    wanted = expect["build_info"]
    for key, value in sorted(wanted.items()):
        got = record.get(key)
        if isinstance(value, list):
            same(key, list(got or []), value)
        elif isinstance(value, str):
            same(key, str(got or ""), value)
        else:
            same(key, bool(got), value)
    require(bool(wanted), "no build facts were given for this release")
    return ", ".join("%s=%s" % (key, wanted[key]) for key in sorted(wanted))


@check(
    "device.cuda_claim",
    proves="The variant of the target is what tf.test.is_built_with_cuda() tells.",
    catches=["claims-cuda"],
)
def check_cuda_claim(tf, expect):
    built = bool(tf.test.is_built_with_cuda())
    same("tf.test.is_built_with_cuda()", built, expect["build_info"]["is_cuda_build"])
    return "is_built_with_cuda() is %s" % built


@check(
    "device.cxx11_abi",
    proves="The C++ ABI flag, which every custom op must be compiled with, is the documented one.",
    catches=["wrong-abi-flag"],
    platforms=["linux"],
)
def check_cxx11_abi(tf, tf1, expect):
    flag = getattr(tf1, "CXX11_ABI_FLAG", None)
    if flag is None:
        flag = getattr(getattr(tf, "sysconfig", None), "CXX11_ABI_FLAG", 0)
    wanted = expect.get("cxx11_abi")
    if wanted is None:
        wanted = 1 if numbers(expect["version"]) >= (2, 9) else 0
    same("CXX11_ABI_FLAG", int(flag), int(wanted))
    return "_GLIBCXX_USE_CXX11_ABI=%d" % flag
