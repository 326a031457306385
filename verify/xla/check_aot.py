"""XLA ahead of time: saved_model_cli makes an object file, g++ makes a program of it."""

import os
import platform

import pytest
from tfsuite import aot, known, programs, xla
from tfsuite.checks import Wrong, check, require, same
from tfsuite.lazy import np

LIMIT = 170
NEEDS = ["xla", "aot-compile-cpu"]
# tanh(x.w + b): nothing saturates, so that a wrong weight shows.
WEIGHTS = [[0.25, -0.5], [0.125, 0.75], [-0.375, 0.0625]]
OFFSETS = [0.5, -0.25]
X = [[0.3, -1.7, 0.9], [1.1, 0.2, -0.6]]


@pytest.fixture(scope="session")
def workshop(tmp_path_factory):
    """A folder that the checks of this file share."""
    return str(tmp_path_factory.mktemp("aot"))


def save(tf, folder, text):
    """A SavedModel of y = tanh(x.w + b); with `text` it is spelled out and read back."""

    class Layer(tf.Module):
        def __init__(self):
            super(Layer, self).__init__()
            self.w = tf.Variable(WEIGHTS)
            self.b = tf.Variable(OFFSETS)

        @tf.function(input_signature=[tf.TensorSpec([2, 3], tf.float32, name="x")])
        def serve(self, x):
            y = tf.tanh(tf.matmul(x, self.w) + self.b)
            if text:
                y = tf.strings.to_number(tf.strings.as_string(y))
            return {"y": y}

    layer = Layer()
    tf.saved_model.save(layer, folder, signatures={"serving_default": layer.serve})


def compiled(tf, workshop):
    """The prefix of what saved_model_cli wrote, once for the checks of this file."""
    if platform.machine() not in ("x86_64", "AMD64"):
        pytest.skip("the command compiles for x86_64 unless it is told otherwise")
    prefix = os.path.join(workshop, "tfsuite_aot")
    if not os.path.exists(prefix + ".h"):
        save(tf, os.path.join(workshop, "layer"), text=False)
        code, text = aot.compile_cpu(os.path.join(workshop, "layer"), prefix)
        same("the command's end (%s)" % text[-300:], code, 0)
    return prefix


def need_compiler():
    found = programs.compiler()
    if not found:
        pytest.skip("needs g++: apt-get install g++")
    return found


@check(
    "xla.aot_object",
    proves="saved_model_cli aot_compile_cpu writes an x86-64 object with the function's own code.",
    catches=["aot-writes-nothing"],
    needs=NEEDS,
    platforms=["linux"],
    limit=LIMIT,
    profile="full",
)
def check_aot_object(tf, workshop):
    prefix = compiled(tf, workshop)
    with open(prefix + ".h", encoding="utf-8") as stream:
        header = stream.read()
    require("result_fetch_y_data" in header, "the header has no result named y")
    kind, sections = aot.object_file(prefix + ".o")
    same("the object's kind and machine", kind, ("relocatable", "x86-64"))
    size = sum(size for name, size in sections.items() if name.startswith(".text"))
    require(size > 100, "its machine code has %d bytes" % size)
    return "%d bytes of machine code" % size


DEFECTS = (
    known.Defect(
        "aot_program",
        ">=2.9,<2.10",
        "measured: the wheel's runtime sources lack custom_call_status.cc, which they call",
        says="CustomCallStatusGetMessage",
    ),
)


@check(
    "xla.aot_program",
    proves="A program that g++ links from that object computes the function without TensorFlow's "
    "kernels, as near to float64 as the bound says; without the object it cannot be linked.",
    catches=["aot-runtime-missing", "aot-weights-off"],
    needs=NEEDS,
    platforms=["linux"],
    limit=300,
    profile="full",
)
def check_aot_program(tf, expect, workshop):
    return known.judged("aot_program", lambda: linked(tf, expect, workshop), DEFECTS)


def linked(tf, expect, workshop):
    prefix = compiled(tf, workshop)
    gcc = need_compiler()
    parts = aot.runtime(tf, expect, gcc, programs.source("../xla/aot_program.cc"), prefix)
    program = os.path.join(workshop, "program")
    try:
        programs.build([gcc] + parts + aot.links(tf) + ["-o", program])
    except Wrong as error:
        require("undefined reference" in str(error), "without the object: %s" % error)
    else:
        raise Wrong("the program is linked without the compiled function")
    programs.build([gcc] + parts + aot.objects(prefix) + aot.links(tf) + ["-o", program])
    require(not aot.needs_kernels(program), "the program needs a library with TensorFlow's kernels")
    code, text = programs.run([program] + ["%.9g" % v for row in X for v in row])
    said = programs.words(text)
    same("the program's end (%s)" % text[-300:], (code, said.get("ran")), (0, "1"))
    return nearness(np.array([float(said["y%d" % i]) for i in range(4)]).reshape(2, 2))


def nearness(got):
    """How far the program's result is from float64: a product, and a tanh with slope below 1."""
    x = np.array(X, "float32").astype("float64")
    w, b = np.array(WEIGHTS), np.array(OFFSETS)
    scale = np.abs(x).dot(np.abs(w)) + np.abs(b) + 1
    error = float(np.max(np.abs(got - np.tanh(x.dot(w) + b)) / (xla.EPS * scale)))
    data = {"error": error, "bound": 16, "unit": "eps*(sum|a||b|+1)"}
    require(error <= 16, "differs from float64 by %.3g eps*scale, bound 16" % error, data)
    return "error %.2g eps*(sum|a||b|+1)" % error, data


@check(
    "xla.aot_refused",
    proves="A function with an op that XLA lacks is an error of aot_compile_cpu that names the op.",
    catches=["aot-writes-nothing"],
    needs=NEEDS,
    platforms=["linux"],
    limit=LIMIT,
    profile="full",
)
def check_aot_refused(tf, scratch):
    save(tf, os.path.join(scratch, "text"), text=True)
    prefix = os.path.join(scratch, "refused")
    code, text = aot.compile_cpu(os.path.join(scratch, "text"), prefix)
    require(code != 0, "the command ended with status 0")
    require("AsString" in text, "the message does not name the op: %s" % text[-200:])
    require(not os.path.exists(prefix + ".o"), "there is an object file all the same")
    return next(line for line in text.splitlines() if "AsString" in line)[-160:]
