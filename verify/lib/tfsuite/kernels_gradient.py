"""Gradients: autodiff against exact derivatives, and against differences of the kernel itself."""

from tfsuite import graphs, kernels, kernels_binary, kernels_nn, kernels_unary, numerics, reference
from tfsuite.checks import Wrong
from tfsuite.lazy import np

# Where a derivative is 0 or jumps, or mpmath has none.
WITHOUT = ("sign", "floor", "ceil", "rint", "round", "abs")
UNARY = [r.key for r in kernels_unary.TABLE if r.key not in WITHOUT and "float64" in r.dtypes]
BINARY = [
    r.key
    for r in kernels_binary.TABLE
    if r.exact is not None
    and r.key not in ("maximum", "minimum", "igamma", "igammac", "zeta", "nextafter")
]


def conditioned(got, want, value, at, factor):
    """|error| <= factor * eps * (|f'| + |f'|/|x| + |f|): the sizes of the terms it is made of."""
    got = np.asarray(got, "float64")
    scale = np.abs(want) + np.abs(value) + np.abs(want) / np.maximum(np.abs(at), 1e-2) + 1e-30
    return numerics.contraction(got, want, scale, "float64", factor)


def unary(name):
    """d f(x)/dx in float64 against the exact derivative."""
    row = kernels_unary.ROWS[name]

    def call():
        points = kernels_unary.points(row, "float64")[::6]
        points = points[np.abs(points) > 1e-2]

        def build(x):
            return graphs.v1().gradients(row.build(x), x)[0]

        got = kernels.evaluate(build, [points], ["float64"])
        want = reference.derivative(row.exact, points)
        value = reference.exact(row.exact, points)
        return conditioned(got, want.value, value.value, points, 64)

    return kernels.case("gradient.%s.float64" % name, call)


def binary(name):
    """Both partial derivatives in float64."""
    row = kernels_binary.ROWS[name]

    def call():
        first, second = kernels_binary.operands(row, "float64")
        first, second = first[:30], second[:30]

        def build(x, y):
            return graphs.v1().gradients(row.build(x, y), [x, y])

        got = kernels.evaluate(build, [first, second], ["float64", "float64"])
        value = reference.exact(row.exact, first, second).value
        said = []
        for index, at in ((0, first), (1, second)):
            want = reference.derivative(row.exact, first, second, index=index).value
            said.append(conditioned(got[index], want, value, at, 64))
        return max(said, key=lambda s: s[1]["error"])

    return kernels.case("gradient.%s.float64" % name, call)


def numeric(table, name):
    """Every input's gradient against central differences of the kernel in float64.

    The differences' own error is about step**2 * |f'''| + eps/step: 1e-6 of the largest slope.
    """
    row = kernels_nn.TABLES[table][name]

    def call():
        draw = kernels.random("gradient" + name)
        arrays = [draw.standard_normal(spec) for spec in row.inputs]
        with graphs.session() as session:
            tf1 = graphs.v1()
            places = [tf1.placeholder("float64", a.shape) for a in arrays]
            try:
                out = row.build(tf1, *places)
                weights = draw.standard_normal(out.shape.as_list())
                loss = tf1.reduce_sum(out * weights)
                slopes = tf1.gradients(loss, places)
                feed = dict(zip(places, arrays))
                got = session.run(slopes, feed)
            except Exception as error:
                if kernels.absent(error):
                    raise kernels.Missing(kernels.shortened(error)) from error
                raise
            worst = 0.0
            for place, array, slope in zip(places, arrays, got):
                for at in some(draw, array.shape):
                    step = 1e-5
                    ends = []
                    for sign in (1, -1):
                        moved = array.copy()
                        moved[at] += sign * step
                        ends.append(session.run(loss, _with(feed, place, moved)))
                    want = (ends[0] - ends[1]) / (2 * step)
                    scale = float(np.max(np.abs(slope))) + 1e-12
                    worst = max(worst, abs(float(slope[at]) - float(want)) / scale)
        data = {"error": worst, "bound": 1e-6, "unit": "largest slope"}
        text = "autodiff and differences differ by %.3g of the largest slope, bound 1e-6" % worst
        if not worst <= 1e-6:
            raise Wrong(text, data)
        return text, data

    return kernels.case("gradient_numeric.%s.float64" % name, call)


def _with(feed, place, array):
    changed = dict(feed)
    changed[place] = array
    return changed


def some(draw, shape, count=5):
    size = int(np.prod(shape))
    picks = draw.choice(size, min(count, size), replace=False)
    return [np.unravel_index(int(p), shape) for p in picks]


def differentiable():
    """Rows of sums and smooth functions whose arguments are all real arrays."""
    skip = ("matmul_empty_depth", "matmul_int", "dilation2d", "dropout_none", "crelu", "moments")
    found = []
    for name, row in sorted(kernels_nn.ROWS.items()):
        plain = all(isinstance(spec, tuple) for spec in row.inputs)
        if plain and "float64" in row.dtypes and name not in skip:
            found.append(name)
    return found
