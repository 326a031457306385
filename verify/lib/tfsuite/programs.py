"""Compile and run C and C++ programs against an installed TensorFlow."""

import os
import re
import shutil
import subprocess
import sys
import sysconfig

from tfsuite import releases
from tfsuite.checks import Wrong

# The C++ standard that each release's headers need, where the facts do not say.
STANDARDS = (("<2.3", "c++11"), (">=2.3,<2.10", "c++14"), (">=2.10", "c++17"))
SOURCES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "native")


def source(name):
    """The path of a source file of this suite."""
    return os.path.normpath(os.path.join(SOURCES, name))


def compiler(name="g++"):
    """The path of a compiler; empty where there is none."""
    return shutil.which(name) or ""


def standard(expect):
    """c++14: what programs against this release are compiled as."""
    said = expect.get("features", {}).get("cpp-standard")
    if said:
        return said
    return next(word for text, word in STANDARDS if releases.holds(text, expect["version"]))


def headers(tf):
    """The folder of the headers."""
    return tf.sysconfig.get_include()


def libraries(tf):
    """The folder of libtensorflow_framework."""
    return tf.sysconfig.get_lib()


def framework(tf):
    """The file name of libtensorflow_framework, with its version."""
    return one(libraries(tf), r"libtensorflow_framework\.so(\.\d+)?$")


def one(folder, pattern):
    """The shortest name in a folder that fits; empty when none does."""
    found = [name for name in os.listdir(folder) if re.match(pattern, name)]
    return min(found, key=len) if found else ""


def abi(tf):
    """0 or 1: the C++ ABI flag of this build."""
    from tfsuite import graphs

    flag = getattr(graphs.v1(), "CXX11_ABI_FLAG", None)
    if flag is None:
        flag = getattr(tf.sysconfig, "CXX11_ABI_FLAG", 0)
    return int(flag)


def compile_flags(tf, expect):
    """-I, -D and -std as the build asks for them; TensorFlow 1.4 has no API that says so."""
    flags = ["-std=" + standard(expect), "-fPIC", "-O1", "-w"]
    if hasattr(tf.sysconfig, "get_compile_flags"):
        said = tf.sysconfig.get_compile_flags()
        return flags + [f for f in said if not f.startswith(("--std", "-std"))]
    include = headers(tf)
    nested = os.path.join(include, "external", "nsync", "public")
    return flags + ["-I" + include, "-I" + nested, "-D_GLIBCXX_USE_CXX11_ABI=%d" % abi(tf)]


def link_flags(tf):
    """-L and -l of the framework library."""
    if hasattr(tf.sysconfig, "get_link_flags"):
        return list(tf.sysconfig.get_link_flags())
    return ["-L" + libraries(tf), "-ltensorflow_framework"]


def program_links(tf):
    """What a whole program is linked with: sessions and kernels, not only the framework.

    From 2.13 or so these are in libtensorflow_cc, before that in the Python extension, which
    needs libpython. `--no-as-needed` keeps a library that only registers things.
    """
    folder = libraries(tf)
    paths = [os.path.join(folder, framework(tf))]
    core = one(folder, r"libtensorflow_cc\.so(\.\d+)?$")
    extra = []
    if core:
        paths.insert(0, os.path.join(folder, core))
    else:
        inner = os.path.join(folder, "python")
        paths.insert(0, os.path.join(inner, "_pywrap_tensorflow_internal.so"))
        extra = python_library()
    where = sorted({os.path.dirname(path) for path in paths})
    flags = ["-Wl,--no-as-needed"] + paths + extra + ["-Wl,--allow-shlib-undefined"]
    return flags + ["-Wl,-rpath," + folder for folder in where]


def python_library():
    """libpython of this interpreter, which TensorFlow's extension takes for granted."""
    folder = sysconfig.get_config_var("LIBDIR") or ""
    name = one(folder, r"libpython%d\.%dm?\.so" % sys.version_info[:2]) if folder else ""
    if not name:
        return []
    return [os.path.join(folder, name), "-Wl,-rpath," + folder]


def build(command, limit=150):
    """Run a compiler.

    Raises:
        Wrong: it failed; its first error is the reason.
    """
    done = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=limit,
        universal_newlines=True,
        errors="replace",
    )
    if done.returncode:
        lines = [
            line for line in done.stdout.splitlines() if "error" in line or "undefined" in line
        ]
        raise Wrong("the compiler says: %s" % (lines or done.stdout.splitlines() or ["nothing"])[0])
    return done.stdout


def run(command, limit=100, **variables):
    """(exit status, text) of a program."""
    env = dict(os.environ, **variables)
    done = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=limit,
        universal_newlines=True,
        errors="replace",
        env=env,
    )
    return done.returncode, done.stdout


def words(text):
    """`key value` lines of a program as a dictionary; the other lines are left out."""
    return dict(line.split(" ", 1) for line in text.splitlines() if re.match(r"\w+ \S", line))
