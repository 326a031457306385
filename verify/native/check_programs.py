"""Programs and operations compiled against the installed wheel, then run."""

import os
import sys

import pytest
from tfsuite import programs
from tfsuite.checks import Wrong, check, raises, require, same
from tfsuite.lazy import np

_BUILT = {}  # path -> why it could not be built; empty when it was
# What compiling costs on a slow machine.
LIMIT = 170
RUNS_PYTHON = os.path.join(os.path.dirname(os.path.abspath(__file__)), "load_op.py")


@pytest.fixture(scope="session")
def workshop(tmp_path_factory):
    """A folder that the checks of this file share."""
    return str(tmp_path_factory.mktemp("native"))


def need(name):
    found = programs.compiler(name)
    if not found:
        pytest.skip("needs %s: apt-get install %s" % (name, name))
    return found


def op_library(tf, expect, folder, abi):
    """The custom operation compiled for one C++ ABI."""
    path = os.path.join(folder, "scale_abi%d.so" % abi)
    flags = [f for f in programs.compile_flags(tf, expect) if "_CXX11_ABI" not in f]
    command = [need("g++"), "-shared", programs.source("scale_op.cc")] + flags
    command += ["-D_GLIBCXX_USE_CXX11_ABI=%d" % abi, "-o", path] + programs.link_flags(tf)
    return built(path, command)


def built(path, command):
    """The path of a file that a compiler makes; one compilation for all the checks of it."""
    if path not in _BUILT:
        _BUILT[path] = ""
        try:
            programs.build(command)
        except Wrong as error:
            _BUILT[path] = str(error)
    if _BUILT[path]:
        raise Wrong(_BUILT[path])
    return path


@check(
    "native.custom_op",
    proves="An operation compiled by g++ with the build's own flags is loaded and is right.",
    catches=["missing-inner-header", "flags-lead-nowhere", "wrong-abi-flag"],
    platforms=["linux"],
    limit=LIMIT,
)
def check_custom_op(tf, tf1, expect, workshop):
    module = tf.load_op_library(op_library(tf, expect, workshop, programs.abi(tf)))
    with tf1.Graph().as_default(), tf1.Session() as session:
        x = tf1.placeholder("float32", [None, 2])
        y = module.tfsuite_scale(x, factor=5)
        same("the static shape", y.shape.as_list(), [None, 2])
        same("its values", session.run(y, {x: [[1.5, -2]]}).tolist(), [[7.5, -10.0]])
        whole = session.run(module.tfsuite_scale(tf1.constant([1 << 20, 7])))
        same("its integers", (whole.tolist(), str(whole.dtype)), ([3 << 20, 21], "int32"))
        error = raises(
            tf1.errors.InvalidArgumentError,
            lambda: session.run(y, {x: np.zeros((0, 2))}),
            "the operation on nothing",
        )
        require("nothing to scale" in str(error), "the message is %r" % str(error)[:100])
    raises((TypeError, ValueError), lambda: wrong_type(tf1, module), "the operation on text")
    return "loaded, two types, shape function, its own error"


def wrong_type(tf1, module):
    with tf1.Graph().as_default():
        module.tfsuite_scale(tf1.constant(["text"]))


@check(
    "native.custom_op_wrong_abi",
    proves="An operation compiled for the other C++ ABI is refused when it is loaded.",
    catches=["loads-anything"],
    platforms=["linux"],
    limit=LIMIT,
)
def check_custom_op_wrong_abi(tf, tf1, expect, workshop):
    path = op_library(tf, expect, workshop, 1 - programs.abi(tf))
    error = raises(tf1.errors.NotFoundError, lambda: tf.load_op_library(path), "loading it")
    text = str(error)
    require("undefined symbol" in text, "the message is %r" % text[:200])
    same("whether the missing symbol is of the new ABI", "cxx11" in text, programs.abi(tf) == 0)
    return text.splitlines()[0][-120:]


@check(
    "native.custom_op_truncated",
    proves="A library cut short is an error when it is loaded, and the process lives on.",
    catches=["loads-anything"],
    platforms=["linux"],
    limit=LIMIT,
)
def check_custom_op_truncated(tf, tf1, expect, workshop):
    whole = op_library(tf, expect, workshop, programs.abi(tf))
    path = os.path.join(workshop, "cut.so")
    with open(whole, "rb") as source, open(path, "wb") as cut:
        # Not half of it: the system's loader maps what the header promises, and dies of SIGBUS.
        cut.write(source.read(40))
    error = raises(tf1.errors.NotFoundError, lambda: tf.load_op_library(path), "loading a piece")
    missing = os.path.join(workshop, "nothing.so")
    raises(tf1.errors.NotFoundError, lambda: tf.load_op_library(missing), "loading nothing")
    return str(error).splitlines()[0][-120:]


@check(
    "native.custom_op_elsewhere",
    proves="The compiled operation is loaded by a new process too, and its graph runs there.",
    catches=["loads-anything"],
    platforms=["linux"],
    limit=LIMIT,
)
def check_custom_op_elsewhere(tf, expect, workshop):
    path = op_library(tf, expect, workshop, programs.abi(tf))
    code, text = programs.run([sys.executable, "-I", RUNS_PYTHON, path])
    same(
        "the value (status %d: %s)" % (code, text[-200:]), programs.words(text).get("value"), "42.0"
    )
    return "42.0 in a new process"


def session_program(tf, expect, folder):
    path = os.path.join(folder, "session_program")
    command = [need("g++"), programs.source("session_program.cc")]
    command += programs.compile_flags(tf, expect) + programs.program_links(tf)
    return built(path, command + ["-o", path])


def python_home():
    """The Python extension may start an interpreter, which must find its own library."""
    return {"PYTHONHOME": sys.base_prefix}


@check(
    "native.session_program",
    proves="A C++ program compiled against the wheel runs a Session on a GraphDef from Python.",
    catches=["missing-inner-header"],
    platforms=["linux"],
    limit=LIMIT,
)
def check_session_program(tf, tf1, expect, workshop):
    program = session_program(tf, expect, workshop)
    code, text = programs.run([program, graph_file(tf1, workshop)], **python_home())
    said = programs.words(text)
    same("the program's end (%s)" % text[-300:], code, 0)
    same("the sum", float(said["sum"]), 36.0)
    same("the shape", said["shape"], "2x3")
    version = getattr(tf1, "GRAPH_DEF_VERSION", None) or tf.version.GRAPH_DEF_VERSION
    same("the headers' GraphDef version", int(said["producer"]), int(version))
    return "sum %s, GraphDef version %s" % (said["sum"], said["producer"])


@check(
    "native.session_program_errors",
    proves="The C++ Session gives an error's code for what Python gives an error's class.",
    catches=["missing-inner-header"],
    platforms=["linux"],
    limit=LIMIT,
)
def check_session_program_errors(tf, tf1, expect, workshop):
    program = session_program(tf, expect, workshop)
    _, text = programs.run([program, graph_file(tf1, workshop)], **python_home())
    said = {k: v for k, v in programs.words(text).items() if v.isdigit()}
    # error_codes.proto: 1 cancelled, 3 invalid argument, 5 not found, 6 already exists.
    require(said.get("unknown_fetch") in ("3", "5"), "an unknown fetch gives %s" % said)
    same("a missing feed", said.get("missing_feed"), "3")
    same("a second Create", said.get("create_again"), "6")
    same("Close", said.get("closed"), "0")
    require(said.get("after_close") in ("1", "3", "9"), "a run after Close gives %s" % said)
    return ", ".join("%s %s" % pair for pair in sorted(said.items()))


def graph_file(tf1, folder):
    """y = x * w + 1 with w = 2."""
    path = os.path.join(folder, "graph.pb")
    if not os.path.exists(path):
        with tf1.Graph().as_default() as graph:
            x = tf1.placeholder("float32", [2, 3], name="x")
            tf1.add(x * tf1.constant(2.0), 1.0, name="y")
        with open(path, "wb") as stream:
            stream.write(graph.as_graph_def().SerializeToString())
    return path


@check(
    "native.c_program",
    proves="A C program compiled against the wheel's c_api.h makes a TF_Session and runs a graph.",
    catches=["c-header-missing"],
    needs=["c-api-headers"],
    platforms=["linux"],
    limit=LIMIT,
)
def check_c_program(tf, tf1, expect, workshop):
    header = os.path.join(programs.headers(tf), "tensorflow", "c", "c_api.h")
    if not os.path.isfile(header):
        require("c-api-headers" not in expect.get("features", {}), "the wheel lacks c_api.h")
        pytest.skip("this wheel has no tensorflow/c/c_api.h")
    path = os.path.join(workshop, "c_program")
    command = [need("gcc"), "-O1", "-w", "-I" + programs.headers(tf)]
    command += [programs.source("c_program.c"), "-o", path] + programs.program_links(tf)
    programs.build(command)
    code, text = programs.run([path, graph_file(tf1, workshop)], **python_home())
    said = programs.words(text)
    same("the program's end (%s)" % text[-300:], code, 0)
    same("the sum", float(said["sum"]), 36.0)
    same("the code without the feed", said["missing_feed"], "3")
    same("the version", said["version"], expect["version"])
    return "sum %s in C, %s" % (said["sum"], said["version"])
