"""A row of a table of kernels that are not elementwise: how it is built, and how it is judged."""

from tfsuite import graphs, kernels, numerics, ulp
from tfsuite.checks import Wrong
from tfsuite.lazy import np


class Row(object):
    """One operation.

    Attributes:
        name: unique within its table.
        build: tensors of (tf1, *tensors): one, or a list.
        want: the right results of the fed arrays, in higher precision where they are rounded.
        inputs: shapes of the arguments, or functions of a random state that make them.
        dtypes: types of the first argument; the others share it unless they are made.
        judge: holds one result to its bound: `exact`, `sums(...)`, `normwise(...)`.
    """

    def __init__(self, name, build, want, inputs, dtypes=("float32",), judge=None, ops=()):
        self.name = name
        self.build = build
        self.want = want
        self.inputs = inputs
        self.dtypes = dtypes
        self.judge = judge or exact
        self.ops = (ops,) if isinstance(ops, str) else tuple(ops)


def hold(table, row, dtype, compiled=False):
    """Run one operation in one type and judge each of its results."""

    def call():
        draw = kernels.random(row.name + dtype)
        arrays = [made(draw, spec, dtype) for spec in row.inputs]
        dtypes = [dtype if keeps(s) else kind(a) for a, s in zip(arrays, row.inputs)]
        fed = [np.asarray(a, "float32") if d == "bfloat16" else a for a, d in zip(arrays, dtypes)]

        def build(*tensors):
            return row.build(graphs.v1(), *tensors)

        got = kernels.evaluate(build, fed, dtypes, row.ops, compiled=compiled)
        want = row.want(*arrays)
        if not isinstance(want, list):
            got, want = [got], [want]
        if len(got) != len(want):
            raise Wrong("%d results, expected %d" % (len(got), len(want)))
        said = [row.judge(g, w, arrays, dtype) for g, w in zip(got, want)]
        return max(said, key=lambda s: s[1].get("error", 0) if isinstance(s, tuple) else -1)

    return kernels.case("%s.%s.%s" % (table, row.name, dtype), call)


def kind(array):
    return "string" if array.dtype == object else str(array.dtype)


def keeps(spec):
    """Whether an argument has the type of the case."""
    return isinstance(spec, (tuple, list))


def made(draw, spec, dtype):
    """An argument: random values of a shape, or what a function makes."""
    if not keeps(spec):
        return spec(draw) if callable(spec) else np.asarray(spec)
    shape = tuple(spec)
    if dtype == "bool":
        return draw.randint(0, 2, shape).astype(bool)
    if dtype.startswith("complex"):
        return (draw.standard_normal(shape) + 1j * draw.standard_normal(shape)).astype(dtype)
    if dtype == "string":
        return np.array([str(i) for i in draw.randint(0, 99, shape).ravel()], object).reshape(shape)
    if dtype in ulp.FORMATS:
        return ulp.rounded(draw.standard_normal(shape) * 3, dtype).astype(
            "float32" if dtype == "bfloat16" else dtype
        )
    return draw.randint(0, 100, shape).astype(dtype)


def exact(got, want, arrays, dtype):
    """The same values; for strings the same bytes."""
    if np.asarray(got).dtype == object or np.asarray(want).dtype.kind in "OSU":
        return texts(got, want)
    return kernels.same(got, want)


def texts(got, want):
    got, want = np.asarray(got, object), np.asarray(want, object)
    left = [as_bytes(v) for v in got.ravel().tolist()]
    right = [as_bytes(v) for v in want.ravel().tolist()]
    if got.shape != want.shape or left != right:
        raise Wrong("%r, expected %r" % (left[:6], right[:6]))
    return "%d strings equal" % len(left)


def as_bytes(value):
    return value.encode("utf-8") if isinstance(value, str) else bytes(value)


def sums(scale, factor=numerics.CONTRACTION):
    """Hold a sum of products to factor * eps * sum|a||b|; `scale` makes that of the arguments."""

    def judge(got, want, arrays, dtype):
        return numerics.contraction(got, want, scale(*arrays), dtype, factor)

    return judge


def normwise(factor, of=None):
    """Hold a result to factor * eps * the norm of the right one, or of what `of` makes.

    The bound of backward stable algorithms (FFT, factorisations), which say nothing of single
    elements.
    """

    def judge(got, want, arrays, dtype):
        got = np.asarray(got)
        if got.shape != np.shape(want):
            raise Wrong("shape is %r, expected %r" % (got.shape, np.shape(want)))
        unit = numerics.UNIT[dtype]
        size = float(np.linalg.norm(np.ravel(of(*arrays) if of else want)))
        away = float(np.linalg.norm(np.ravel(got - np.asarray(want)))) / (unit * size or 1.0)
        data = {"error": away, "bound": factor, "unit": "eps*norm"}
        text = "error %.3g eps*norm, bound %g" % (away, factor)
        if not away <= factor:
            raise Wrong(text, data)
        return text, data

    return judge


def ulps(bound, floor=0.0):
    """Hold each element to ULPs of the right one, which is exact to float64."""

    def judge(got, want, arrays, dtype):
        want = np.asarray(want)
        return ulp.hold(got, [ulp.Exact(want.astype("float64"))], dtype, bound, [want], floor)

    return judge


def cases(rows):
    """(name, type) of each row, for pytest."""
    return [(row.name, dtype) for row in rows for dtype in row.dtypes]


def named(rows):
    found = {row.name: row for row in rows}
    if len(found) != len(rows):
        raise ValueError("two rows share a name")
    return found
