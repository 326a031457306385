"""Reductions, scans and segments: sums to 16 eps sum|a|, the others exactly or to their ULPs."""

from tfsuite import graphs, kernels, numerics, reference, ulp
from tfsuite.lazy import np

NUMBERS = ("float32", "float64", "float16", "bfloat16", "int32", "int64", "uint8")
# name: axes and shape. Reductions take other paths for inner, outer, middle and all axes.
LAYOUTS = {
    "all": ((5, 7, 3), None),
    "inner": ((6, 37), (1,)),
    "outer": ((37, 6), (0,)),
    "middle": ((5, 7, 3), (1,)),
    "both": ((5, 7, 3), (0, 2)),
    "one": ((1,), (0,)),
    "scalar": ((), ()),
    "empty": ((0, 4), (0,)),
    "kept": ((4, 0), (0,)),
    "large": ((64, 1031), (1,)),
}


def data(name, dtype, shape, low=-8, high=8):
    draw = kernels.random(name + dtype)
    if dtype in ulp.FORMATS:
        return ulp.rounded(draw.uniform(low, high, shape), dtype)
    return draw.randint(0 if dtype.startswith("u") else low, high, shape).astype(dtype)


def fed(values, dtype):
    return np.asarray(values, "float32" if dtype == "bfloat16" else dtype)


def run(build, values, dtype, ops=(), compiled=False):
    return kernels.evaluate(build, [fed(values, dtype)], [dtype], ops, compiled=compiled)


def count(shape, axes):
    axes = range(len(shape)) if axes is None else axes
    return int(np.prod([shape[a] for a in axes], dtype=int))


def by_fold(function, values, axes):
    """A reduction that has no exact sum: by numpy's, in float64 or the type itself."""
    if axes == ():
        return values
    return function(values, axis=axes)


def integer_sum(values, axes, dtype):
    return by_fold(np.sum, values.astype("int64"), axes).astype(dtype)


class Reduction(object):
    """One row: the function in tf, its kind of node, how it is judged, its types and layouts."""

    def __init__(self, name, op, judge, dtypes=NUMBERS, skip=()):
        self.name = name
        self.op = op
        self.judge = judge
        self.dtypes = dtypes
        self.skip = skip

    def build(self, axes):
        def made(x):
            function = graphs.v1()
            for part in self.name.split("."):
                function = getattr(function, part)
            # tf.norm takes a number or a pair, nothing else.
            chosen = axes[0] if axes and len(axes) == 1 else axes
            return function(x, axis=chosen)

        return made


def judge_sum(got, values, axes, dtype):
    if dtype not in ulp.FORMATS:
        return kernels.same(got, integer_sum(values, axes, dtype))
    return numerics.contraction(
        np.asarray(got, "float64"),
        reference.total(values, axes),
        reference.total(np.abs(values), axes),
        _numpy(dtype),
    )


def _numpy(dtype):
    return dtype


def judge_mean(got, values, axes, dtype):
    size = count(values.shape, axes)
    if dtype not in ulp.FORMATS:
        total = by_fold(np.sum, values.astype("int64"), axes)
        if size == 0:
            return "undefined for integers"
        quotient = np.where(total < 0, -(-total // size), total // size)
        return kernels.same(got, np.asarray(quotient).astype(dtype))
    with np.errstate(all="ignore"):
        want = (
            reference.total(values, axes) / float(size) if size else np.full(np.shape(got), np.nan)
        )
        scale = reference.total(np.abs(values), axes) / float(size or 1)
    if not size:
        return kernels.same(np.asarray(got, "float64"), want)
    return numerics.contraction(np.asarray(got, "float64"), want, scale, dtype)


def judge_prod(got, values, axes, dtype):
    if dtype not in ulp.FORMATS:
        return kernels.same(got, by_fold(np.prod, values, axes).astype(dtype))
    want = by_fold(np.prod, values, axes)
    # Each of n products rounds once: n*eps relative, and n is small here.
    bound = max(count(values.shape, axes), 1)
    return ulp.hold(got, [ulp.Exact(want)], dtype, bound, [want])


def judge_exact(function, empty=None):
    def judge(got, values, axes, dtype):
        if count(values.shape, axes) == 0 and values.ndim and axes != ():
            want = np.full(np.shape(got), empty(dtype))
            return kernels.same(np.asarray(got, "float64"), want)
        return kernels.same(np.asarray(got), fed(by_fold(function, values, axes), dtype))

    return judge


def lowest(dtype):
    return float("-inf") if dtype in ulp.FORMATS else float(np.iinfo(dtype).min)


def highest(dtype):
    return float("inf") if dtype in ulp.FORMATS else float(np.iinfo(dtype).max)


def judge_logsumexp(got, values, axes, dtype):
    size = count(values.shape, axes)
    if size == 0:
        return kernels.same(np.asarray(got, "float64"), np.full(np.shape(got), float("-inf")))
    want = np.log(by_fold(np.sum, np.exp(values.astype("float64")), axes))
    # Condition: the largest argument is rounded once and the sum's relative error adds to it.
    scale = np.maximum(np.abs(want), 1.0)
    return numerics.contraction(np.asarray(got, "float64"), want, scale, dtype)


def judge_norm(got, values, axes, dtype):
    want = np.sqrt(reference.total(values * values, axes))
    return numerics.contraction(np.asarray(got, "float64"), want, want, dtype)


REALS = ("float32", "float64")
ROWS = {
    row.name: row
    for row in (
        Reduction("reduce_sum", "Sum", judge_sum),
        Reduction("reduce_mean", "Mean", judge_mean),
        Reduction("reduce_prod", "Prod", judge_prod, ("float32", "float64", "int32"), ("large",)),
        Reduction("reduce_max", "Max", judge_exact(lambda v, axis: np.max(v, axis=axis), lowest)),
        Reduction("reduce_min", "Min", judge_exact(lambda v, axis: np.min(v, axis=axis), highest)),
        Reduction("reduce_logsumexp", "", judge_logsumexp, REALS),
        Reduction("norm", "", judge_norm, REALS, ("scalar",)),
    )
}


def hold(name, dtype, layout, compiled=False):
    """Hold one reduction, in one type, over the axes of one layout."""
    row = ROWS[name]
    shape, axes = LAYOUTS[layout]

    def call():
        small = 2 if name == "reduce_prod" else 8
        values = data(name + layout, dtype, shape, -small, small)
        ops = (row.op,) if row.op and shape != () else ()
        got = run(row.build(axes), values, dtype, ops, compiled)
        return row.judge(got, values, axes, dtype)

    table = "reduce_xla" if compiled else "reduce"
    return kernels.case("%s.%s.%s.%s" % (table, name, dtype, layout), call)


def booleans(name, layout):
    """reduce_any and reduce_all."""
    shape, axes = LAYOUTS[layout]

    def call():
        values = kernels.random(name + layout).randint(0, 4, shape).astype(bool)
        function = np.any if name == "reduce_any" else np.all
        want = by_fold(function, values, axes)

        def build(x):
            return getattr(graphs.v1(), name)(x, axis=list(axes) if axes is not None else None)

        got = kernels.evaluate(build, [values], ["bool"])
        return kernels.same(got, want)

    return kernels.case("reduce.%s.bool.%s" % (name, layout), call)


def arguments(name, dtype):
    """argmax and argmin: the first of equals."""

    def call():
        values = data(name, dtype, (9, 31), -4, 4)
        values = np.round(values) if dtype in ulp.FORMATS else values
        results = []
        for axis in (0, 1):
            got = run(lambda x, a=axis: getattr(graphs.v1(), name)(x, a), values, dtype)
            want = getattr(np, name)(values, axis)
            results.append(kernels.same(got, want))
        return "; ".join(results)

    return kernels.case("reduce.%s.%s" % (name, dtype), call)


def scans(name, dtype, mode):
    """cumsum and cumprod along both axes, exclusive and in reverse."""

    def call():
        exclusive, reverse = "exclusive" in mode, "reverse" in mode
        values = data(name, dtype, (4, 19), -2, 3)
        values = np.round(values) if dtype in ulp.FORMATS else values
        if name == "cumprod":
            values = np.where(values == 0, np.ones_like(values), values)
        for axis in (0, 1):

            def build(x, a=axis):
                return getattr(graphs.v1(), name)(x, a, exclusive=exclusive, reverse=reverse)

            got = run(build, values, dtype)
            kernels.same(got, scan(name, values, axis, exclusive, reverse), "axis %d" % axis)
        return "whole numbers: exact in any order"

    return kernels.case("scan.%s.%s.%s" % (name, dtype, mode), call)


def scan(name, values, axis, exclusive, reverse):
    turned = np.flip(values, axis) if reverse else values
    out = getattr(np, name)(turned, axis=axis, dtype=values.dtype)
    if exclusive:
        first = np.zeros_like if name == "cumsum" else np.ones_like
        head = first(np.take(out, [0], axis))
        out = np.concatenate([head, np.take(out, range(out.shape[axis] - 1), axis)], axis)
    return np.flip(out, axis) if reverse else out


SEGMENTS = {
    "segment_sum": lambda v: v.sum(0),
    "segment_mean": lambda v: v.mean(0),
    "segment_max": lambda v: v.max(0),
    "segment_min": lambda v: v.min(0),
    "segment_prod": lambda v: v.prod(0),
    "unsorted_segment_sum": lambda v: v.sum(0),
    "unsorted_segment_max": lambda v: v.max(0),
    "sparse_segment_sum": lambda v: v.sum(0),
    "sparse_segment_mean": lambda v: v.mean(0),
}


def segments(name, dtype):
    """Rows gathered by segment, one of which has a single row."""

    def call():
        draw = kernels.random(name)
        ids = np.array([0, 0, 1, 2, 2, 2, 2], "int32")
        # Powers of two: sums, means of 1, 2 and 4, and products are exact.
        values = (2.0 ** draw.randint(0, 3, (7, 5))).astype(dtype)
        order = draw.permutation(7)
        if name.startswith("unsorted"):
            build = lambda x: getattr(graphs.v1(), name)(x, ids[order], 3)  # noqa: E731
            values, picked = values, [values[ids[order] == i] for i in range(3)]
        elif name.startswith("sparse"):
            build = lambda x: getattr(graphs.v1(), name)(x, order.astype("int32"), ids)  # noqa: E731
            picked = [values[order][ids == i] for i in range(3)]
        else:
            build = lambda x: getattr(graphs.v1(), name)(x, ids)  # noqa: E731
            picked = [values[ids == i] for i in range(3)]
        got = kernels.evaluate(build, [values], [dtype])
        return kernels.same(got, np.array([SEGMENTS[name](rows) for rows in picked], dtype))

    return kernels.case("segment.%s.%s" % (name, dtype), call)
