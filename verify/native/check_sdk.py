"""What the wheel brings for native code: headers, libraries, flags, ABI. No compiler runs long."""

import ctypes
import os
import re

import pytest
from tfsuite import programs
from tfsuite.checks import check, require, same
from tfsuite.lazy import np

# What custom operations and C++ programs include.
ROOTS = (
    "tensorflow/core/framework/op.h",
    "tensorflow/core/framework/op_kernel.h",
    "tensorflow/core/framework/shape_inference.h",
    "tensorflow/core/framework/tensor.h",
    "tensorflow/core/public/session.h",
)


@check(
    "native.headers",
    proves="The headers that custom operations include are all there, with all that they include.",
    catches=["missing-inner-header"],
    platforms=["linux", "darwin"],
    limit=150,
)
def check_headers(tf, expect, scratch):
    folder = programs.headers(tf)
    missing = [name for name in ROOTS if not os.path.isfile(os.path.join(folder, name))]
    require(not missing, "the wheel lacks %s" % ", ".join(missing))
    gxx = programs.compiler()
    if not gxx:
        pytest.skip("needs g++: apt-get install g++")
    path = os.path.join(scratch, "all.cc")
    with open(path, "w") as stream:
        stream.writelines('#include "%s"\n' % name for name in ROOTS)
    # Only the preprocessor: it opens every header that any of these leads to.
    said = programs.build([gxx] + programs.compile_flags(tf, expect) + ["-M", path])
    names = [word for word in said.replace("\\\n", " ").split() if word.startswith(folder)]
    require(len(names) > 100, "only %d headers were read" % len(names))
    return "%d headers read" % len(names)


@check(
    "native.flags",
    proves="The flags that the build hands out lead to its own headers and its own library.",
    catches=["flags-lead-nowhere", "missing-library"],
    needs=["compile-flags-api"],
)
def check_flags(tf):
    said = tf.sysconfig.get_compile_flags() + tf.sysconfig.get_link_flags()
    folders = [flag[2:] for flag in said if flag.startswith(("-I", "-L"))]
    lost = [folder for folder in folders if not os.path.isdir(folder)]
    require(not lost, "no such folder: %s" % ", ".join(lost))
    include = next(flag[2:] for flag in said if flag.startswith("-I"))
    require(os.path.isfile(os.path.join(include, ROOTS[0])), "no %s in %s" % (ROOTS[0], include))
    linked = linked_library(said)
    require(os.path.isfile(linked), "no %s" % linked)
    define = "-D_GLIBCXX_USE_CXX11_ABI=%d" % programs.abi(tf)
    require(define in said, "%s is not among %s" % (define, " ".join(said)))
    return "%s, %s" % (os.path.basename(linked), define)


def linked_library(flags):
    """The file that -L and -l mean."""
    folder = next(flag[2:] for flag in flags if flag.startswith("-L"))
    name = next(flag[2:] for flag in flags if flag.startswith("-l"))
    return os.path.join(folder, name[1:] if name.startswith(":") else "lib%s.so" % name)


# A `const std::string&` among the parameters of TensorFlow's own functions, as each ABI spells it.
SPELLINGS = {
    0: rb"_ZNK?10tensorflow\w*RKSs\w*",
    1: rb"_ZNK?10tensorflow\w*RKNSt7__cxx1112basic_string\w*",
}


@check(
    "native.abi",
    proves="The library's own symbols are of the C++ ABI that the build tells custom ops to use.",
    catches=["wrong-abi-flag"],
    platforms=["linux"],
)
def check_abi(tf):
    path = os.path.join(programs.libraries(tf), programs.framework(tf))
    with open(path, "rb") as stream:
        text = stream.read()
    found = {abi: len(set(re.findall(pattern, text))) for abi, pattern in SPELLINGS.items()}
    flag = programs.abi(tf)
    require(found[0] or found[1], "no function takes a std::string in either spelling")
    require(found[flag] and not found[1 - flag], "the flag is %d, symbols: %s" % (flag, found))
    return "flag %d, %d functions take a std::string so" % (flag, found[flag])


def graph_file(tf1, folder):
    """y = x * w + 1 with w = 2, as a GraphDef for the programs."""
    with tf1.Graph().as_default() as graph:
        x = tf1.placeholder("float32", [2, 3], name="x")
        tf1.add(x * tf1.constant(2.0), 1.0, name="y")
    path = os.path.join(folder, "graph.pb")
    with open(path, "wb") as stream:
        stream.write(graph.as_graph_def().SerializeToString())
    return path


class Buffer(ctypes.Structure):
    """TF_Buffer."""

    _fields_ = [("data", ctypes.c_char_p), ("length", ctypes.c_size_t), ("free", ctypes.c_void_p)]


class Output(ctypes.Structure):
    """TF_Output."""

    _fields_ = [("operation", ctypes.c_void_p), ("index", ctypes.c_int)]


class Api(object):
    """The C API inside the wheel, by ctypes: what language bindings call."""

    def __init__(self, tf):
        folder = programs.libraries(tf)
        core = programs.one(folder, r"libtensorflow_cc\.so(\.\d+)?$")
        name = core or os.path.join("python", "_pywrap_tensorflow_internal.so")
        self.library = ctypes.CDLL(os.path.join(folder, name))
        self.status = self("TF_NewStatus", ctypes.c_void_p)

    def __call__(self, name, result, *arguments):
        function = getattr(self.library, name)
        function.restype = result
        value = function(*arguments)
        # A pointer stays one: as a number it would be passed on as a C int, half of a register or
        # of a place on the stack. A Python at a fixed address (Debian's) has small pointers, too.
        return ctypes.c_void_p(value) if result is ctypes.c_void_p else value

    def code(self):
        return self("TF_GetCode", ctypes.c_int, self.status)

    def fine(self, what):
        message = self("TF_Message", ctypes.c_char_p, self.status)
        same(what, (self.code(), message.decode()), (0, ""))


@check(
    "native.c_api",
    proves="The C API of the wheel's library makes a session and runs a graph, as bindings do.",
    catches=["mul-too-large"],
    platforms=["linux", "darwin"],
)
def check_c_api(tf, tf1, expect, scratch):
    api = Api(tf)
    version = api("TF_Version", ctypes.c_char_p).decode()
    same("TF_Version()", version, expect["version"])
    with open(graph_file(tf1, scratch), "rb") as stream:
        text = stream.read()
    graph = api("TF_NewGraph", ctypes.c_void_p)
    options = api("TF_NewImportGraphDefOptions", ctypes.c_void_p)
    buffer = ctypes.byref(Buffer(text, len(text), None))
    api("TF_GraphImportGraphDef", None, graph, buffer, options, api.status)
    api.fine("the import")
    settings = api("TF_NewSessionOptions", ctypes.c_void_p)
    session = api("TF_NewSession", ctypes.c_void_p, graph, settings, api.status)
    api.fine("the session")
    x, y = [
        Output(api("TF_GraphOperationByName", ctypes.c_void_p, graph, name), 0)
        for name in (b"x", b"y")
    ]
    given = tensor(api, np.arange(6, dtype="float32"))
    got = ctypes.c_void_p()
    ends = (None, 0, None, api.status)
    run = lambda feeds, values, count: api(  # noqa: E731
        "TF_SessionRun", None, session, None, feeds, values, count,
        ctypes.byref(y), ctypes.byref(got), 1, *ends
    )  # fmt: skip
    run(ctypes.byref(x), ctypes.byref(given), 1)
    api.fine("the run")
    size = api("TF_TensorByteSize", ctypes.c_size_t, got)
    data = api("TF_TensorData", ctypes.c_void_p, got)
    values = np.frombuffer(ctypes.string_at(data, size), "float32")
    same("y", values.tolist(), [1.0, 3.0, 5.0, 7.0, 9.0, 11.0])
    run(None, None, 0)
    same("the code without the feed", api.code(), 3)
    return "%s: y = %s; without the feed: INVALID_ARGUMENT" % (version, values.tolist())


def tensor(api, values):
    """A TF_Tensor of shape [2, 3] with these numbers."""
    shape = (ctypes.c_int64 * 2)(2, 3)
    made = api("TF_AllocateTensor", ctypes.c_void_p, 1, shape, 2, ctypes.c_size_t(values.nbytes))
    ctypes.memmove(api("TF_TensorData", ctypes.c_void_p, made), values.ctypes.data, values.nbytes)
    return made


@check(
    "native.registry",
    proves="The library registers the operations that Python has wrappers for.",
    catches=["operations-missing"],
)
def check_registry(tf):
    names = [op.name for op in registered(tf)]
    same("operations that stand twice", len(names) - len(set(names)), 0)
    raw = getattr(tf, "raw_ops", None)
    wrapped = set(dir(raw)) if raw else {"MatMul", "Conv2D", "Conv3D", "VarHandleOp", "Switch"}
    wrapped = {name for name in wrapped if name[0].isupper()}
    lost = sorted(wrapped - set(names))
    require(not lost, "%d wrappers have no operation, as %s" % (len(lost), ", ".join(lost[:5])))
    return "%d operations, %d wrappers looked up" % (len(names), len(wrapped))


def registered(tf):
    """Every OpDef that the C API knows."""
    from tensorflow.core.framework import op_def_pb2

    api = Api(tf)
    found = api("TF_GetAllOpList", ctypes.c_void_p)
    buffer = ctypes.cast(found, ctypes.POINTER(RawBuffer)).contents
    parsed = op_def_pb2.OpList()
    parsed.ParseFromString(ctypes.string_at(buffer.data, buffer.length))
    return parsed.op


class RawBuffer(ctypes.Structure):
    """TF_Buffer whose data may hold zeros."""

    _fields_ = [("data", ctypes.c_void_p), ("length", ctypes.c_size_t), ("free", ctypes.c_void_p)]
