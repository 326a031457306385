"""TensorFlow Lite: convert, run, quantise, and refuse what is no model."""

import os
import subprocess
import sys

import pytest
from tfsuite import known, models, numerics
from tfsuite.checks import Wrong, check, require, same
from tfsuite.lazy import np

REFUSES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "open_lite.py")
_MADE = {}


def lite(tf, expect):
    """tf.lite, or a skip with the reason."""
    found = getattr(tf, "lite", None)
    if not hasattr(found, "TFLiteConverter") or not hasattr(found, "Interpreter"):
        pytest.skip("TensorFlow %s has no tf.lite" % expect["version"])
    # Before 2.1 the converter starts toco_from_protos as a program.
    folder = os.path.dirname(sys.executable)
    if folder not in os.environ["PATH"].split(os.pathsep):
        os.environ["PATH"] = folder + os.pathsep + os.environ["PATH"]
    return found


def images(count, number=31):
    return np.random.RandomState(number).uniform(0, 1, (count, 8, 8, 3)).astype("float32")


def model(tf):
    """A convolution, a rectifier and a dense layer, with known weights.

    Nothing cancels: an error of the result is not small beside what the result is a sum of. One
    filter of the convolution is negative, for the rectifier.
    """
    layers = tf.keras.layers
    made = tf.keras.models.Sequential(
        [
            layers.Conv2D(4, 3, activation="relu", input_shape=(8, 8, 3)),
            layers.Flatten(),
            layers.Dense(16),  # weights below 1024 in number are not quantised
        ]
    )
    random = np.random.RandomState(32)
    weights = [abs(random.normal(0, 0.3, np.shape(w))) for w in made.get_weights()]
    weights[0][..., -1] *= -1
    weights[1][-1] *= -1
    made.set_weights([w.astype("float32") for w in weights])
    return made


def reference(weights, x):
    """(value, sum|a||b|) of the model in double precision."""
    from tfsuite.convlstm import convolve

    kernel, bias, dense, offset = [np.asarray(w, "float64") for w in weights]
    x = x.astype("float64")
    inner = convolve(x, kernel, "valid") + bias
    size = convolve(abs(x), abs(kernel), "valid") + abs(bias)
    hidden = np.maximum(inner, 0).reshape(len(x), -1)
    scale = size.reshape(len(x), -1).dot(abs(dense)) + abs(offset)
    return hidden.dot(dense) + offset, scale


def converter(tf, expect, scratch):
    """(converter, weights) for the model, by the way that the release has."""
    api = lite(tf, expect)
    models.reset(tf)
    made = model(tf)
    weights = made.get_weights()
    if models.eager(tf):
        return api.TFLiteConverter.from_keras_model(made), weights
    path = os.path.join(scratch, "lite.h5")
    made.save(path)
    models.reset(tf)
    return api.TFLiteConverter.from_keras_model_file(path), weights


def converted(tf, expect, scratch):
    """(flat buffer, weights) in single precision; made once per process."""
    if "float" not in _MADE:
        tool, weights = converter(tf, expect, scratch)
        _MADE["float"] = (tool.convert(), weights)
    return _MADE["float"]


def opened(tf, content):
    interpreter = tf.lite.Interpreter(model_content=content)
    interpreter.allocate_tensors()
    return interpreter


def outputs(tf, content, x):
    """The model's output for one image after the other, in real numbers."""
    interpreter = opened(tf, content)
    (given,), (got,) = interpreter.get_input_details(), interpreter.get_output_details()
    rows = []
    for image in x:
        interpreter.set_tensor(given["index"], into(image[None], given))
        interpreter.invoke()
        rows.append(out_of(interpreter.get_tensor(got["index"]), got))
    return np.concatenate(rows)


def into(values, detail):
    """Real numbers as the tensor's own type."""
    if detail["dtype"] == np.float32:
        return values
    scale, zero = detail["quantization"]
    limits = np.iinfo(detail["dtype"])
    return np.clip(np.round(values / scale) + zero, limits.min, limits.max).astype(detail["dtype"])


def out_of(values, detail):
    if detail["dtype"] == np.float32:
        return values
    scale, zero = detail["quantization"]
    return (values.astype("float64") - zero) * scale


@check(
    "native.lite",
    proves="A model converted to TensorFlow Lite gives the numbers of its definition.",
    catches=["lite-wrong-weights", "lite-library-truncated"],
    needs=["tflite"],
)
def check_lite(tf, expect, scratch):
    content, weights = converted(tf, expect, scratch)
    x = images(4)
    want, scale = reference(weights, x)
    return numerics.contraction(outputs(tf, content, x), want, scale, "float32")


@check(
    "native.lite_format",
    proves="The converted file is a TFL3 flat buffer with the model's tensors, and opens from disk.",
    catches=["lite-wrong-weights", "lite-library-truncated"],
    needs=["tflite"],
)
def check_lite_format(tf, expect, scratch):
    content, weights = converted(tf, expect, scratch)
    same("the identifier", bytes(content[4:8]), b"TFL3")
    path = os.path.join(scratch, "model.tflite")
    with open(path, "wb") as stream:
        stream.write(content)
    interpreter = tf.lite.Interpreter(model_path=path)
    interpreter.allocate_tensors()
    (given,), (got,) = interpreter.get_input_details(), interpreter.get_output_details()
    same("the input", (list(given["shape"]), given["dtype"]), ([1, 8, 8, 3], np.float32))
    same("the output", (list(got["shape"]), got["dtype"]), ([1, 16], np.float32))
    # A flat buffer holds constants as they are: the convolution's, transposed, must be in it.
    kernel = np.ascontiguousarray(weights[0].transpose(3, 0, 1, 2)).tobytes()
    require(kernel in bytes(content), "the convolution's weights are not in the file")
    return "%d bytes, version 3" % len(content)


@check(
    "native.lite_resize",
    proves="The interpreter takes another batch size, and the same images give the same numbers.",
    catches=["lite-library-truncated", "lite-wrong-weights"],
    needs=["tflite"],
)
def check_lite_resize(tf, expect, scratch):
    content, weights = converted(tf, expect, scratch)
    x = images(3)
    interpreter = opened(tf, content)
    (given,), (got,) = interpreter.get_input_details(), interpreter.get_output_details()
    interpreter.resize_tensor_input(given["index"], [3, 8, 8, 3])
    interpreter.allocate_tensors()
    interpreter.set_tensor(given["index"], x)
    interpreter.invoke()
    want, scale = reference(weights, x)
    return numerics.contraction(interpreter.get_tensor(got["index"]), want, scale, "float32")


@check(
    "native.lite_weights8",
    proves="With 8-bit weights the file is smaller and errs by no more than half a step per weight.",
    catches=["lite-wrong-weights", "lite-ignores-quantisation"],
    needs=["tflite"],
)
def check_lite_weights8(tf, expect, scratch):
    plain, _ = converted(tf, expect, scratch)
    tool, weights = converter(tf, expect, scratch)
    if hasattr(tf.lite, "Optimize"):
        tool.optimizations = [tf.lite.Optimize.DEFAULT]
    else:  # 1.13
        tool.post_training_quantize = True
    content = tool.convert()
    types = {str(np.dtype(d["dtype"])) for d in opened(tf, content).get_tensor_details()}
    x = images(4)
    want, scale = reference(weights, x)
    got = outputs(tf, content, x)
    # Weights and, in hybrid kernels, inputs of each product are rounded to steps of max/127.
    steps = scale / 127
    worst = float(np.max(abs(got - want) / steps))
    data = {"error": worst, "bound": 1, "unit": "sum|a||b|/127"}
    require(worst <= 1, "error %.3g of its bound" % worst, data)
    require(len(content) < len(plain), "%d bytes, %d before" % (len(content), len(plain)))
    # Kernels with few weights stay as they are; the error shows which it was.
    return "%d of %d bytes, %s, error %.2g of its bound" % (
        len(content), len(plain), "/".join(sorted(types)), worst
    ), data  # fmt: skip


@check(
    "native.lite_int8",
    proves="Quantised with a sample of inputs, all arithmetic is in 8 bits, within its resolution.",
    catches=["lite-wrong-weights", "lite-ignores-quantisation"],
    releases=">=2.3",
    needs=["tflite"],
    limit=150,
)
def check_lite_int8(tf, expect, scratch):
    tool, weights = converter(tf, expect, scratch)
    sample = images(64, 33)
    tool.optimizations = [tf.lite.Optimize.DEFAULT]
    tool.representative_dataset = lambda: ([image[None]] for image in sample)
    tool.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]
    tool.inference_input_type = tf.int8
    tool.inference_output_type = tf.int8
    content = tool.convert()
    interpreter = opened(tf, content)
    same("the input's type", interpreter.get_input_details()[0]["dtype"], np.int8)
    x = images(8)
    want, scale = reference(weights, x)
    got = outputs(tf, content, x)
    # Each of the three layers rounds to 1/255 of its range, each weight to 1/127 of its channel's.
    bound = scale / 127
    worst = float(np.max(abs(got - want) / bound))
    data = {"error": worst, "bound": 1, "unit": "sum|a||b|/127"}
    require(worst <= 1, "error %.3g of its bound" % worst, data)
    require(np.max(abs(got - want)) > 0, "no error at all: nothing was quantised")
    return "error %.2g of its bound" % worst, data


CUT = "no public report known; seen in 1.13.2 to 2.15.1: a model cut short is read unverified"
DEFECTS = (
    known.Defect("lite_refuses.cut", ">=1.13,<2.16", CUT, sure=False, says="died"),
    # A length beyond the file's end, before anything else of it is used.
    known.Defect("lite_refuses.cut", ">=1.13,<2.16", CUT, sure=False, says="MemoryError"),
)


@check(
    "native.lite_refuses",
    proves="What is no TensorFlow Lite model is a ValueError, not the end of the process.",
    catches=["lite-takes-anything"],
    needs=["tflite"],
)
@pytest.mark.parametrize("case", ["text", "empty", "cut"])
def check_lite_refuses(tf, expect, scratch, case):
    content, _ = converted(tf, expect, scratch)
    said = _MADE.get("refusals") or _MADE.setdefault("refusals", refusals(content, scratch))

    def refused():
        if said[case].startswith("the process"):
            raise Wrong(said[case])
        same("what it raised", said[case], "ValueError")
        return "ValueError"

    return known.judged("lite_refuses." + case, refused, DEFECTS)


def refusals(content, scratch):
    """What opening each file raises, in a process of its own because it may die at the last one."""
    cases = (("text", b"this is no model at all" * 9), ("empty", b""), ("cut", content[:100]))
    for name, text in cases:
        with open(os.path.join(scratch, name), "wb") as stream:
            stream.write(text)
    names = [name for name, _ in cases]
    command = [sys.executable, "-I", REFUSES] + [os.path.join(scratch, name) for name in names]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    said = done.stdout.decode(errors="replace").split()
    missing = "the process died of signal %d" % -done.returncode
    return dict(zip(names, said + [missing] * (len(names) - len(said))))


@check(
    "native.lite_c_api",
    proves="The wheel's library exports the C API of TensorFlow Lite, and it runs the model.",
    catches=["lite-library-truncated", "lite-wrong-weights"],
    needs=["tflite"],
    platforms=["linux"],
)
def check_lite_c_api(tf, expect, scratch):
    import ctypes

    library = exporting(tf, "TfLiteModelCreate")
    if not library:
        pytest.skip("no library of this wheel exports TfLiteModelCreate")
    content, weights = converted(tf, expect, scratch)
    api = ctypes.CDLL(library)

    def call(name, result, *arguments):
        getattr(api, name).restype = result
        return getattr(api, name)(*arguments)

    pointer = lambda value: ctypes.c_void_p(value)  # noqa: E731
    made = call("TfLiteModelCreate", ctypes.c_void_p, bytes(content), ctypes.c_size_t(len(content)))
    require(made, "TfLiteModelCreate returned nothing")
    runner = call("TfLiteInterpreterCreate", ctypes.c_void_p, pointer(made), None)
    require(runner, "TfLiteInterpreterCreate returned nothing")
    runner = pointer(runner)
    same("AllocateTensors", call("TfLiteInterpreterAllocateTensors", ctypes.c_int, runner), 0)
    x = np.ascontiguousarray(images(1))
    given = pointer(call("TfLiteInterpreterGetInputTensor", ctypes.c_void_p, runner, 0))
    size = ctypes.c_size_t(x.nbytes)
    data = pointer(x.ctypes.data)
    same("CopyFromBuffer", call("TfLiteTensorCopyFromBuffer", ctypes.c_int, given, data, size), 0)
    same("Invoke", call("TfLiteInterpreterInvoke", ctypes.c_int, runner), 0)
    got = np.zeros((1, 16), "float32")
    out = pointer(call("TfLiteInterpreterGetOutputTensor", ctypes.c_void_p, runner, 0))
    size, data = ctypes.c_size_t(got.nbytes), pointer(got.ctypes.data)
    same("CopyToBuffer", call("TfLiteTensorCopyToBuffer", ctypes.c_int, out, data, size), 0)
    want, scale = reference(weights, x)
    text, evidence = numerics.contraction(got, want, scale, "float32")
    return "%s; %s" % (os.path.basename(library), text), evidence


def exporting(tf, name):
    """The library of the wheel that exports a C function; empty when none does."""
    import ctypes

    folder = os.path.dirname(os.path.abspath(sys.modules[tf.lite.__name__].__file__))
    while folder and not os.path.isdir(os.path.join(folder, "lite", "python")):
        folder = os.path.dirname(folder) if os.path.dirname(folder) != folder else ""
    inner = os.path.join(folder, "lite", "python", "interpreter_wrapper")
    places = [os.path.join(inner, n) for n in sorted(os.listdir(inner)) if n.endswith(".so")]
    for path in places + core(tf):
        try:
            if hasattr(ctypes.CDLL(path), name):
                return path
        except OSError:
            continue
    return ""


def core(tf):
    from tfsuite import programs

    folder = programs.libraries(tf)
    name = programs.one(folder, r"libtensorflow_cc\.so(\.\d+)?$")
    inner = os.path.join(folder, "python", "_pywrap_tensorflow_internal.so")
    return [os.path.join(folder, name)] if name else [inner]
