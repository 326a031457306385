"""Run kernels on arrays, as every case of the kernels' checks does.

Kernels are fed by placeholders: a constant would be folded away by another kernel than the one
that is meant. bfloat16 has no numpy type in old releases, so it is fed and fetched as float32.
"""

import json
import os
import re

import pytest

from tfsuite import expected, graphs, known, releases, xla
from tfsuite.checks import Wrong, require
from tfsuite.lazy import np

FIRST = os.path.join(os.path.dirname(os.path.abspath(__file__)), "kernels_first.json")
# What it says of a kernel, or of its own rewrite of a graph, that breaks on a right graph.
_BROKEN = ("ArithmeticOptimizer", "Multiple OpKernel registrations match")
# What TensorFlow says when it has no such function, or no kernel for a type.
_ABSENT = (
    "No OpKernel was registered",
    "Could not find device for node",
    "Could not find valid device",
    "not in list of allowed values",
    "not in the list of allowed values",
    "has no attribute",
    "Attempting to build a non-existent op",
    "Detected unsupported operations",
    "unexpected keyword argument",
    "is not a valid dtype",
    "does not match expected type",
    "Tensor conversion requested dtype float32 for Tensor with dtype float64",
)
_LOADED = {}


class Missing(Exception):
    """This release has no such function, or no kernel for this type."""


def case(key, call):
    """Run one case: held to the list of known defects and of what each release has.

    Args:
        key: `table.operation.type.what`; the first three name what the release may lack.
    """
    try:
        return known.judged(key, call)
    except Missing as error:
        first = first_release(".".join(key.split(".")[:3]))
        version = expected.load()["version"]
        if releases.holds(first, version):
            text = "TensorFlow %s has %s, the wheel does not: %s" % (version, key, error)
            raise Wrong(text) from error
        pytest.skip("TensorFlow %s has no %s, seen in %s" % (version, key, first))


def first_release(key):
    """The releases that certainly have what a key names: measured on released wheels."""
    if not _LOADED:
        with open(FIRST, encoding="utf-8") as stream:
            _LOADED.update(json.load(stream)["first"])
    return _LOADED.get(key, "")


def absent(error):
    """Whether an exception says that there is no such thing, rather than that it failed."""
    if type(error).__name__ == "UnimplementedError":
        return True
    return any(words in str(error) for words in _ABSENT)


def shortened(error):
    """The first words of an exception, without the places in files that newer releases add."""
    text = " ".join(str(error).split())
    text = re.sub(r"\(defined at [^)]*\) ?", "", text)
    return re.sub(r"(/[^\s/:'\"()]+)+/", "", text)[:200]


def evaluate(build, arrays, dtypes, ops=(), config=None, compiled=False):
    """The values of `build(*tensors)`, in a Session.

    Args:
        build: makes tensors of tensors.
        arrays: what is fed.
        dtypes: the names of their types.
        ops: kinds of nodes, one of which must be in the graph: the kernel that is meant.
        compiled: build inside a function that XLA must compile.

    Raises:
        Missing: this release has no such function or kernel.
    """
    tf1 = graphs.v1()
    with graphs.session(config) as session:
        try:
            places = [
                tf1.placeholder("float32" if dtype == "bfloat16" else dtype, np.shape(array))
                for array, dtype in zip(arrays, dtypes)
            ]
            whole = _narrowed(build, dtypes)
            if compiled:
                whole = must_compile(whole)
            out = whole(*places)
            if ops and not compiled:
                kinds = {op.type for op in session.graph.get_operations()}
                require(kinds & set(ops), "no %s in the graph, only %s" % (ops, sorted(kinds)))
            return session.run(out, dict(zip(places, arrays)))
        except Exception as error:
            # That is wrong, not absent.
            if type(error).__name__ == "InternalError" or any(w in str(error) for w in _BROKEN):
                raise Wrong(shortened(error)) from error
            if isinstance(error, Wrong) or not absent(error):
                raise
            raise Missing(shortened(error)) from error


def _narrowed(build, dtypes):
    """`build` with bfloat16 tensors made of and turned into float32 ones."""
    tf1 = graphs.v1()

    def whole(*tensors):
        out = build(
            *[
                tf1.cast(t, tf1.bfloat16) if dtype == "bfloat16" else t
                for t, dtype in zip(tensors, dtypes)
            ]
        )
        if isinstance(out, (list, tuple)):
            return [_widened(o) for o in out]
        return _widened(out)

    return whole


def _widened(tensor):
    tf1 = graphs.v1()
    if getattr(tensor, "dtype", None) == tf1.bfloat16:
        return tf1.cast(tensor, "float32")
    return tensor


def must_compile(build):
    """`build` as a function that XLA has to compile, by the interface of this release."""
    keyword = expected.load()["features"].get("jit-keyword", "none")
    if keyword == "jit_compile":
        import tensorflow as tf

        return tf.function(build, jit_compile=True, autograph=False)
    try:
        compiler = xla.compiler()
    except ImportError as error:
        raise Missing(str(error)) from error
    return lambda *tensors: _single(compiler(build, list(tensors)))


def _single(outputs):
    return outputs[0] if isinstance(outputs, (list, tuple)) and len(outputs) == 1 else outputs


def random(name):
    """Numbers that depend on a case's name only."""
    import zlib

    return np.random.RandomState(zlib.crc32(name.encode("utf-8")) & 0x7FFFFFFF)


def same(got, want, what="the result"):
    """Fail unless two arrays are the same, shape and NaNs included; zeros of both signs are."""
    got, want = np.asarray(got), np.asarray(want)
    if got.shape != want.shape:
        raise Wrong("shape of %s is %r, expected %r" % (what, got.shape, want.shape))
    equal = got == want
    if got.dtype.kind in "fc" and want.dtype.kind in "fc":
        equal = equal | (np.isnan(got) & np.isnan(want))
    if not np.all(equal):
        at = np.unravel_index(np.argmin(equal), got.shape) if got.shape else ()
        raise Wrong(
            "%d of %d elements of %s differ: %r is %r, expected %r"
            % (np.sum(~np.asarray(equal)), got.size, what, at, got[at], want[at])
        )
    return "%d elements equal" % got.size


# Shapes: how a flat pool of points is laid out for one case, and with what strides it is fed.
def laid(size, shape, name):
    """Indices into a pool of `size` points, in a named shape."""
    pick = random(name).randint(0, size, LARGE)
    if shape == "empty":
        return pick[:0].reshape(0, 3)
    if shape == "one":
        return pick[:1].reshape(())
    if shape == "odd":
        return np.arange(size)
    if shape == "matrix":
        return pick[: 7 * 13].reshape(7, 13)
    if shape == "strided":
        return pick[: 14 * 22].reshape(14, 22)[::2, ::-2].T
    if shape == "large":
        return pick.reshape(-1, 37)
    raise ValueError(shape)


LARGE = 37 * 1009
SHAPES = ("empty", "one", "matrix", "strided", "large")
