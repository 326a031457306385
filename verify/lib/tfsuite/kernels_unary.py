"""Elementwise functions of one argument: where they are defined and how exact they must be."""

from tfsuite import kernels, reference, ulp
from tfsuite.lazy import np

INF = float("inf")
NAN = float("nan")
HALVES = ("float16", "bfloat16")
REAL = ("float32", "float64")
FLOATS = ("float32", "float64") + HALVES
COMPLEX = ("complex64", "complex128")


class Unary(object):
    """One row.

    Attributes:
        name: the function in tf (v1), dots allowed.
        op: kinds of nodes that compute it; empty where it is made of several.
        exact: function of `reference`, or of mpmath.
        low, high: the points lie between, half of them evenly, half evenly in magnitude.
        special: f(inf), f(-inf), f(0.0), f(-0.0), None where nobody says what it should be, as at
            a pole or outside the domain of an inverse; f(nan) is NaN.
        ulps: bound by type; `*` for those that are not named.
        floor: below this size of a result, one ULP is that of the floor.
        dtypes: types that it is checked in, where the release has them.
        xla: bound when compiled by XLA, which has its own approximations; None: not checked.
    """

    def __init__(self, name, op, exact, low, high, special, ulps, **more):
        self.name = name
        self.op = (op,) if isinstance(op, str) and op else tuple(op)
        self.exact = exact
        self.low = low
        self.high = high
        self.special = special
        self.ulps = ulps if isinstance(ulps, dict) else {"*": ulps}
        self.floor = more.get("floor", 0.0)
        self.dtypes = more.get("dtypes", FLOATS)
        self.xla = more.get("xla", 8)

    @property
    def key(self):
        return self.name.split(".")[-1]

    def bound(self, dtype):
        return self.ulps.get(dtype, self.ulps["*"])

    def build(self, x):
        from tfsuite import graphs

        function = graphs.v1()
        for part in self.name.split("."):
            function = getattr(function, part)
        return function(x)


def zero_like(x):
    return x * 0


# Bounds: exact operations 0, correctly rounded ones 0.5 (with a little for the double rounding of
# 16-bit types), approximations as stated by the row.
ROUND = {"*": 0.5, "float16": 0.51, "bfloat16": 0.51}
PRODUCT = dict(ROUND, complex64=2, complex128=2)

# fmt: off
TABLE = (
    Unary("abs", "Abs", "fabs", -1e4, 1e4, (INF, INF, 0.0, 0.0), 0),
    Unary("negative", "Neg", lambda x: -x, -1e4, 1e4, (-INF, INF, -0.0, 0.0), 0, dtypes=FLOATS + COMPLEX),
    Unary("sign", "Sign", "sign", -1e4, 1e4, (1.0, -1.0, 0.0, 0.0), 0),
    Unary("floor", "Floor", "floor", -1e4, 1e4, (INF, -INF, 0.0, -0.0), 0),
    Unary("ceil", "Ceil", "ceil", -1e4, 1e4, (INF, -INF, 0.0, -0.0), 0),
    Unary("rint", "Rint", "nint", -1e3, 1e3, (INF, -INF, 0.0, -0.0), 0, dtypes=REAL),
    Unary("round", "Round", "nint", -1e3, 1e3, (INF, -INF, 0.0, -0.0), 0),
    Unary("square", "Square", lambda x: x * x, -1e3, 1e3, (INF, INF, 0.0, 0.0), PRODUCT, dtypes=FLOATS + COMPLEX),
    Unary("sqrt", "Sqrt", "sqrt", 1e-6, 1e4, (INF, NAN, 0.0, -0.0), 4, dtypes=FLOATS + COMPLEX),
    Unary("rsqrt", "Rsqrt", lambda x: 1 / reference.mpmath.sqrt(x), 1e-6, 1e4, (0.0, NAN, INF, -INF), 4),
    Unary("reciprocal", ("Reciprocal", "Inv"), lambda x: 1 / x, -1e3, 1e3, (0.0, -0.0, INF, -INF), 2),
    Unary("exp", "Exp", "exp", -80, 80, (INF, 0.0, 1.0, 1.0), 2, dtypes=FLOATS + COMPLEX),
    Unary("expm1", "Expm1", "expm1", -20, 60, (INF, -1.0, 0.0, -0.0), 4),
    Unary("log", "Log", "log", 1e-6, 1e6, (INF, NAN, -INF, -INF), 4, dtypes=FLOATS + COMPLEX),
    Unary("log1p", "Log1p", "log1p", -0.99, 1e4, (INF, NAN, 0.0, -0.0), 4),
    Unary("sin", "Sin", "sin", -50, 50, (NAN, NAN, 0.0, -0.0), 2, floor=1.0, dtypes=FLOATS + COMPLEX),
    Unary("cos", "Cos", "cos", -50, 50, (NAN, NAN, 1.0, 1.0), 2, floor=1.0, dtypes=FLOATS + COMPLEX),
    Unary("tan", "Tan", "tan", -1.5, 1.5, (NAN, NAN, 0.0, -0.0), 4),
    Unary("asin", "Asin", "asin", -1, 1, (NAN, NAN, 0.0, -0.0), 4),
    Unary("acos", "Acos", "acos", -1, 1, (NAN, NAN, 1.5707963267948966, 1.5707963267948966), {"*": 4, "float16": 8}),
    Unary("atan", "Atan", "atan", -1e3, 1e3, (1.5707963267948966, -1.5707963267948966, 0.0, -0.0), 4),
    Unary("sinh", "Sinh", "sinh", -60, 60, (INF, -INF, 0.0, -0.0), 4, xla=32),
    Unary("cosh", "Cosh", "cosh", -60, 60, (INF, INF, 1.0, 1.0), 4, xla=32),
    Unary("tanh", "Tanh", "tanh", -20, 20, (1.0, -1.0, 0.0, -0.0), 8, dtypes=FLOATS + COMPLEX),
    Unary("asinh", "Asinh", "asinh", -1e3, 1e3, (INF, -INF, 0.0, -0.0), 4),
    Unary("acosh", "Acosh", "acosh", 1.0, 1e3, (INF, NAN, NAN, NAN), 4),
    Unary("atanh", "Atanh", "atanh", -0.99, 0.99, (NAN, NAN, 0.0, -0.0), 4),
    Unary("erf", "Erf", "erf", -5, 5, (1.0, -1.0, 0.0, -0.0), 8),
    Unary("erfc", "Erfc", "erfc", -5, 5, (0.0, 2.0, 1.0, 1.0), 8, xla=16),
    Unary("lgamma", "Lgamma", "lgamma", 0.01, 50, (INF, INF, INF, INF), 16, floor=1.0, xla=64, dtypes=("float32", "float64", "float16")),
    Unary("digamma", "Digamma", "digamma", 0.01, 50, (INF, None, None, None), 32, floor=1.0, xla=64, dtypes=("float32", "float64", "float16")),
    Unary("sigmoid", "Sigmoid", "sigmoid", -15, 15, (1.0, 0.0, 0.5, 0.5), 8, dtypes=FLOATS + COMPLEX),
    Unary("log_sigmoid", ("Softplus", "LogSigmoid"), lambda x: -reference.softplus(-x), -15, 15, (0.0, -INF, -0.6931471805599453, -0.6931471805599453), 8),
    Unary("nn.softplus", "Softplus", "softplus", -15, 30, (INF, 0.0, 0.6931471805599453, 0.6931471805599453), 8),
    Unary("nn.softsign", "Softsign", "softsign", -1e3, 1e3, (NAN, NAN, 0.0, -0.0), 2),
    Unary("nn.relu", "Relu", lambda x: x if x > 0 else zero_like(x), -1e3, 1e3, (INF, 0.0, 0.0, 0.0), 0),
    Unary("nn.relu6", "Relu6", lambda x: min(max(x, zero_like(x)), zero_like(x) + 6), -20, 20, (6.0, 0.0, 0.0, 0.0), 0),
    Unary("nn.elu", "Elu", "elu", -20, 20, (INF, -1.0, 0.0, -0.0), 4, floor=1.0),
    Unary("nn.selu", "Selu", "selu", -20, 20, (INF, -1.7580993408473766, 0.0, -0.0), 4, floor=1.0),
    Unary("math.erfinv", "Erfinv", "erfinv", -0.99, 0.99, (None, None, 0.0, -0.0), 8, floor=1.0, dtypes=REAL),
    Unary("math.ndtri", "Ndtri", "ndtri", 0.01, 0.99, (None, None, -INF, -INF), 8, floor=1.0, dtypes=REAL),
    Unary("math.bessel_i0e", "BesselI0e", "bessel_i0e", -40, 40, (0.0, 0.0, 1.0, 1.0), 8, dtypes=("float32", "float64", "float16")),
    Unary("math.bessel_i1e", "BesselI1e", "bessel_i1e", -40, 40, (0.0, -0.0, 0.0, -0.0), 8, dtypes=("float32", "float64", "float16")),
)
# fmt: on
ROWS = {row.key: row for row in TABLE}
_POOLS = {}


class Pool(object):
    """The points of one function in one type, with the exact results."""

    def __init__(self, row, dtype):
        part = ulp.PARTS.get(dtype, dtype)
        self.points = points(row, part)
        if dtype in ulp.PARTS:
            self.points = self.points + 1j * np.roll(self.points, 7)
            self.points = self.points[np.abs(self.points.imag) < 50]
            self.wants = [reference.exact(row.exact, self.points)]
            return
        self.wants = [reference.exact(row.exact, self.points)]
        self.edges, results = edges(row, dtype)
        self.wants = [_joined(self.wants[0], results)]
        self.points = np.concatenate([self.points, self.edges])
        if row.special[2] is not None:
            self.flushed()

    def flushed(self):
        """Denormal inputs may count as zeros."""
        small = self.points == self.edges[-1]
        zero = self.wants[0].value[self.points == 0][0]
        other = ulp.Exact(
            np.where(small, zero, self.wants[0].value), np.where(small, 0.0, self.wants[0].rest)
        )
        self.wants.append(other)


def _joined(want, more):
    rest = np.concatenate([want.rest, np.zeros(len(more))])
    return ulp.Exact(np.concatenate([want.value, more]), rest)


def points(row, dtype):
    """Numbers of the type inside the function's domain."""
    draw = kernels.random(row.name)
    even = draw.uniform(row.low, row.high, 96)
    small = min(abs(row.low), abs(row.high)) if row.low > 0 else 1e-3
    sizes = np.exp(draw.uniform(np.log(small), np.log(max(abs(row.low), abs(row.high))), 160))
    signs = np.where(np.arange(160) % 2, 1.0, -1.0)
    both = np.concatenate([even, sizes * signs])
    inside = both[(both > row.low) & (both < row.high)]
    inside = ulp.rounded(inside, dtype)
    return inside[np.isfinite(inside) & (inside >= row.low) & (inside <= row.high)][:191]


def edges(row, dtype):
    """NaN, infinities, zeros of both signs and the smallest denormal, with the results."""
    smallest = ulp.spacing(np.array(0.0), dtype) * 3
    inputs = np.array([NAN, INF, -INF, 0.0, -0.0, float(smallest)])
    near = float(reference.exact(row.exact, inputs[5:]).value[0])
    if row.special[2] is None:
        near = None
    results = [NAN, *row.special, near]
    kept = [i for i, result in enumerate(results) if result is not None]
    return inputs[kept], np.array([results[i] for i in kept])


def pool(row, dtype):
    if (row.key, dtype) not in _POOLS:
        _POOLS[row.key, dtype] = Pool(row, dtype)
    return _POOLS[row.key, dtype]


def hold(name, dtype, shape="odd", compiled=False):
    """Hold one function, in one type and shape, to its bound."""
    row = ROWS[name]
    table = "unary_xla" if compiled else "unary"

    def call():
        of = pool(row, dtype)
        index = kernels.laid(len(of.points), shape, name)
        fed = of.points[index]
        stored = "float32" if dtype == "bfloat16" else dtype
        feed = fed.astype(stored)
        got = kernels.evaluate(row.build, [feed], [dtype], row.op, compiled=compiled)
        bound = row.xla if compiled else row.bound(dtype)
        wants = [want.take(index) for want in of.wants]
        return ulp.hold(got, wants, dtype, bound, [fed], row.floor)

    return kernels.case("%s.%s.%s.%s" % (table, row.key, dtype, shape), call)
