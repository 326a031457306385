"""The native libraries: which are loaded, what GPU code they hold, what a build needs of them."""

import os

import pytest
from tfsuite import elf
from tfsuite.checks import check, require


def package(tf):
    """The folder of TensorFlow's own files; 1.15 and 2.0 keep them in tensorflow_core."""
    home = os.path.dirname(tf.__file__)
    core = os.path.join(os.path.dirname(home), "tensorflow_core")
    return core if os.path.isdir(core) else home


@check(
    "device.loaded_libraries",
    proves="The native libraries in this process are the ones of the package under test.",
    catches=["library-elsewhere"],
    platforms=["linux"],
)
def check_loaded_libraries(tf):
    site = os.path.realpath(os.path.dirname(package(tf)))
    with open("/proc/self/maps") as stream:
        paths = {line.split(None, 5)[5].strip() for line in stream if len(line.split(None, 5)) > 5}
    native = sorted(p for p in paths if "tensorflow" in os.path.basename(p) and ".so" in p)
    require(bool(native), "no native library of TensorFlow is loaded")
    elsewhere = [p for p in native if not os.path.realpath(p).startswith(package(tf) + os.sep)]
    elsewhere = [p for p in elsewhere if not p.startswith(os.path.join(site, "tensorflow"))]
    require(not elsewhere, "loaded from elsewhere: %s" % ", ".join(elsewhere))
    return ", ".join(os.path.basename(p) for p in native)


@check(
    "device.gpu_code",
    proves="The libraries hold GPU code for the architectures that the build claims, and no other.",
    catches=["cpu-sold-as-cuda"],
    platforms=["linux"],
)
def check_gpu_code(tf, expect):
    found = set()
    for path in elf.libraries(package(tf))[:6]:
        found |= elf.gpu_code(path)
    if not expect["build_info"]["is_cuda_build"]:
        require(not found, "a CPU build holds code for %s" % sorted(found))
        return "no GPU code"
    require(bool(found), "a CUDA build holds no GPU code at all")
    wanted = expect["build_info"].get("cuda_compute_capabilities")
    if wanted:
        # TensorFlow compiles compute_80 to PTX and, for that architecture, to native code too.
        both = {name.replace("compute_", "sm_") for name in wanted}
        missing, more = set(wanted) - found, found - set(wanted) - both
        require(not missing, "claimed, and not in the libraries: %s" % ", ".join(sorted(missing)))
        require(not more, "in the libraries, and not claimed: %s" % ", ".join(sorted(more)))
    return ", ".join(sorted(found))


HEADERS = (
    "tensorflow/core/framework/op_kernel.h",
    "tensorflow/core/framework/shape_inference.h",
    "tensorflow/core/public/session.h",
    "tensorflow/core/public/version.h",
)


@check(
    "device.headers",
    proves="The headers that custom ops and C++ programs include are in the package.",
    catches=["missing-header"],
)
@pytest.mark.parametrize("header", HEADERS, ids=[os.path.basename(h) for h in HEADERS])
def check_headers(tf, header):
    path = os.path.join(tf.sysconfig.get_include(), header)
    require(os.path.isfile(path), "%s is missing" % path)
    require(os.path.getsize(path) > 100, "%s is empty" % path)
    return "%d bytes" % os.path.getsize(path)


@check(
    "device.link_library",
    proves="tf.sysconfig names a folder with the library that custom ops link against.",
    catches=["wrong-library-folder"],
    releases=">=1.5",
    platforms=["linux"],
)
def check_link_library(tf):
    folder = tf.sysconfig.get_lib()
    names = os.listdir(folder) if os.path.isdir(folder) else []
    found = [n for n in names if n.startswith("libtensorflow_framework.so")]
    require(bool(found), "%s holds no libtensorflow_framework.so" % folder)
    return ", ".join(sorted(found))


@check(
    "device.compiler",
    proves="The build records the compiler and the commit that it was made from.",
    catches=["no-compiler-record"],
)
def check_compiler(tf, tf1):
    version = getattr(tf, "version", None)

    def text(name):
        found = getattr(tf1, name, None) or getattr(version, name, None) or ""
        return found.decode() if isinstance(found, bytes) else str(found)

    compiler, git = text("COMPILER_VERSION"), text("GIT_VERSION")
    require(any(c.isdigit() for c in compiler), "COMPILER_VERSION is %r" % compiler)
    require("unknown" not in git and git, "GIT_VERSION is %r" % git)
    return "%s, %s" % (compiler, git)
