"""Elementwise functions of two arguments: floats to their ULPs, integers exactly, with overflow."""

import operator

from tfsuite import graphs, kernels, reference, ulp
from tfsuite.checks import Wrong
from tfsuite.kernels_unary import FLOATS, ROUND
from tfsuite.lazy import np

INTS = ("int8", "int16", "int32", "int64", "uint8", "uint16")
SIGNED = ("int32", "int64")
NUMBERS = FLOATS + INTS
EDGES = (float("nan"), float("inf"), float("-inf"), 0.0, -0.0, 1.0, -1.0, 2.5, -3.0)
_POOLS = {}


class Binary(object):
    """One row.

    Attributes:
        name: the function in tf (v1).
        op: kinds of nodes that compute it.
        exact: of two mpmath numbers, or a name in `reference`; None: integers only.
        whole: of two Python integers; wrapped to the type. None: floats only.
        special: of two numpy float64 arrays, as IEEE 754 has it; None: `exact` decides.
        first, second: intervals of the arguments.
        divides: the second argument of integers is never 0 (an error, another check) nor -1
            (INT_MIN / -1 kills the process in some releases, another check).
    """

    def __init__(self, name, op, exact, whole, special, first, second, ulps, dtypes, **more):
        self.name = name
        self.op = (op,) if isinstance(op, str) else tuple(op)
        self.exact = exact
        self.whole = whole
        self.special = special
        self.first = first
        self.second = second
        self.ulps = ulps if isinstance(ulps, dict) else {"*": ulps}
        self.dtypes = dtypes
        self.divides = more.get("divides", False)
        self.shift = more.get("shift", False)
        self.floor = more.get("floor", 0.0)
        self.xla = more.get("xla", 8)

    @property
    def key(self):
        return self.name.split(".")[-1]

    def bound(self, dtype):
        return self.ulps.get(dtype, self.ulps["*"])

    def build(self, x, y):
        function = graphs.v1()
        for part in self.name.split("."):
            function = getattr(function, part)
        return function(x, y)


def truncated(a, b):
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def floored_mod(a, b):
    return a - b * reference.mpmath.floor(a / b)


def power(a, b):
    return a**b if b >= 0 else 0


R3, R1 = (-1e3, 1e3), (-30.0, 30.0)
# fmt: off
TABLE = (
    Binary("add", ("Add", "AddV2"), operator.add, operator.add, lambda a, b: a + b, R3, R3, ROUND, NUMBERS),
    Binary("subtract", "Sub", operator.sub, operator.sub, lambda a, b: a - b, R3, R3, ROUND, NUMBERS),
    Binary("multiply", "Mul", operator.mul, operator.mul, lambda a, b: a * b, R3, R3, ROUND, NUMBERS),
    Binary("realdiv", "RealDiv", operator.truediv, None, lambda a, b: a / b, R3, R3, {"*": 2}, FLOATS),
    Binary("div_no_nan", "DivNoNan", operator.truediv, None, lambda a, b: np.where(b == 0, 0.0, a / b), R3, R3, {"*": 2}, ("float32", "float64")),
    Binary("floordiv", "FloorDiv", None, operator.floordiv, None, R3, R3, 0, INTS, divides=True),
    Binary("floormod", "FloorMod", None, operator.mod, None, R3, R3, 0, SIGNED, divides=True),
    Binary("truncatediv", "TruncateDiv", None, truncated, None, R3, R3, 0, INTS, divides=True),
    Binary("truncatemod", "TruncateMod", None, lambda a, b: a - b * truncated(a, b), None, R3, R3, 0, SIGNED, divides=True),
    Binary("maximum", "Maximum", max, max, None, R3, R3, 0, FLOATS + SIGNED),
    Binary("minimum", "Minimum", min, min, None, R3, R3, 0, FLOATS + SIGNED),
    Binary("squared_difference", "SquaredDifference", lambda a, b: (a - b) * (a - b), lambda a, b: (a - b) * (a - b), lambda a, b: (a - b) * (a - b), R3, R3, {"*": 2}, ("float32", "float64") + SIGNED),
    Binary("pow", "Pow", operator.pow, power, None, (0.01, 20.0), (-8.0, 8.0), {"*": 4, "float64": 4}, FLOATS + SIGNED),
    Binary("atan2", "Atan2", "atan2", None, lambda a, b: np.arctan2(a, b), R3, R3, 4, ("float32", "float64")),
    Binary("math.xdivy", "Xdivy", operator.truediv, None, None, R3, (0.1, 50.0), 2, ("float32", "float64")),
    Binary("math.xlogy", "Xlogy", "xlogy", None, None, R3, (2.0, 50.0), 8, ("float32", "float64")),
    Binary("math.xlog1py", "Xlog1py", "xlog1py", None, None, R3, (1.0, 50.0), 8, ("float32", "float64")),
    Binary("math.multiply_no_nan", "MulNoNan", operator.mul, None, lambda a, b: np.where(b == 0, 0.0, a * b), R3, R3, ROUND, ("float32", "float64")),
    Binary("math.nextafter", "NextAfter", None, None, None, R3, R3, 0, ("float32", "float64")),
    Binary("igamma", "Igamma", "igamma", None, None, (0.5, 20.0), (0.5, 20.0), 128, ("float32", "float64"), xla=512),
    Binary("igammac", "Igammac", "igammac", None, None, (0.5, 20.0), (0.5, 20.0), 128, ("float32", "float64"), xla=512),
    Binary("zeta", "Zeta", "zeta", None, None, (1.5, 20.0), (0.5, 20.0), 64, ("float32", "float64"), xla=512),
    Binary("bitwise.bitwise_and", "BitwiseAnd", None, operator.and_, None, R3, R3, 0, INTS),
    Binary("bitwise.bitwise_or", "BitwiseOr", None, operator.or_, None, R3, R3, 0, INTS),
    Binary("bitwise.bitwise_xor", "BitwiseXor", None, operator.xor, None, R3, R3, 0, INTS),
    Binary("bitwise.left_shift", "LeftShift", None, operator.lshift, None, R3, R3, 0, INTS, shift=True),
    Binary("bitwise.right_shift", "RightShift", None, operator.rshift, None, R3, R3, 0, INTS, shift=True),
)
# fmt: on
COMPARES = {
    "less": operator.lt,
    "less_equal": operator.le,
    "greater": operator.gt,
    "greater_equal": operator.ge,
    "equal": operator.eq,
    "not_equal": operator.ne,
}
ROWS = {row.key: row for row in TABLE}


class Pool(object):
    """Pairs of one function in one type, with the exact results."""

    def __init__(self, row, dtype):
        self.first, self.second = operands(row, dtype)
        if dtype not in ulp.FORMATS:
            pairs = zip(self.first.tolist(), self.second.tolist())
            self.want = wrapped([row.whole(a, b) for a, b in pairs], dtype)
            return
        if row.key == "nextafter":
            self.want = ulp.Exact(next_after(self.first, self.second, dtype))
            return
        self.want = reference.exact(row.exact, self.first, self.second)
        if row.special is not None:
            self._edges(row)

    def _edges(self, row):
        grid = np.array([(a, b) for a in EDGES for b in EDGES])
        with np.errstate(all="ignore"):
            results = row.special(grid[:, 0], grid[:, 1])
        self.first = np.concatenate([self.first, grid[:, 0]])
        self.second = np.concatenate([self.second, grid[:, 1]])
        rest = np.concatenate([self.want.rest, np.zeros(len(grid))])
        value = np.concatenate([self.want.value, results])
        # A quotient of the grid such as 1/-3 is exact only to float64: not a case for it.
        keep = (rest != 0) | (np.arange(len(rest)) < len(rest) - len(grid))
        whole = ~np.isfinite(value) | (value * 64 == np.round(value * 64))
        keep = keep | whole
        self.first, self.second = self.first[keep], self.second[keep]
        self.want = ulp.Exact(value[keep], rest[keep])


def next_after(first, second, dtype):
    with np.errstate(all="ignore"):
        return np.nextafter(first.astype(dtype), second.astype(dtype)).astype("float64")


def operands(row, dtype):
    draw = kernels.random(row.name + dtype)
    if dtype in ulp.FORMATS:
        first = ulp.rounded(draw.uniform(row.first[0], row.first[1], 180), dtype)
        second = ulp.rounded(draw.uniform(row.second[0], row.second[1], 180), dtype)
        return first, second
    return integers(row, dtype, draw)


def integers(row, dtype, draw):
    """Small numbers and the ends of the type, where sums and products overflow."""
    info = np.iinfo(dtype)
    low = 0 if info.min == 0 else -12
    if row.key == "pow":
        return draw.randint(max(low, -3), 12, 120).astype(dtype), draw.randint(0, 9, 120).astype(
            dtype
        )
    ends = [info.min, info.min + 1, info.max, info.max - 1, info.max // 2, 0, 1, 2, 3]
    ends += [-1, -2, -7] if info.min else []
    grid = [(a, b) for a in ends for b in ends]
    grid += list(zip(draw.randint(low, 100, 90).tolist(), draw.randint(low, 100, 90).tolist()))
    if row.divides:
        grid = [(a, b) for a, b in grid if b not in (0, -1)]
    if row.shift:
        grid = [(a, abs(b) % info.bits) for a, b in grid]
    return tuple(np.array(column).astype(dtype) for column in zip(*grid))


def wrapped(values, dtype):
    """Python integers modulo 2**bits, as the type's two's complement."""
    info = np.iinfo(dtype)
    size = 1 << info.bits
    inside = [v % size for v in values]
    return np.array([v - size if v > info.max else v for v in inside], dtype)


def pool(row, dtype):
    if (row.key, dtype) not in _POOLS:
        _POOLS[row.key, dtype] = Pool(row, dtype)
    return _POOLS[row.key, dtype]


def hold(name, dtype, shape="odd", compiled=False):
    """Hold one function, in one type and shape, to its bound."""
    row = ROWS[name]

    def call():
        of = pool(row, dtype)
        index = kernels.laid(len(of.first), shape, name)
        return judged(row, dtype, of, index, index, compiled)

    table = "binary_xla" if compiled else "binary"
    return kernels.case("%s.%s.%s.%s" % (table, row.key, dtype, shape), call)


def judged(row, dtype, of, index, fetched, compiled=False):
    stored = "float32" if dtype == "bfloat16" else dtype
    feed = [of.first[index].astype(stored), of.second[index].astype(stored)]
    got = kernels.evaluate(row.build, feed, [dtype, dtype], row.op, compiled=compiled)
    if dtype not in ulp.FORMATS:
        if np.asarray(got).dtype != np.dtype(dtype):
            raise Wrong("type is %s, expected %s" % (np.asarray(got).dtype, dtype))
        return kernels.same(got, of.want[fetched])
    bound = row.xla if compiled and row.bound(dtype) else row.bound(dtype)
    return ulp.hold(got, [of.want.take(fetched)], dtype, bound, feed, row.floor)


# Shapes that are broadcast against each other, and the result's.
BROADCASTS = {
    "scalar": ((), (5, 7)),
    "row": ((5, 7), (7,)),
    "column": ((5, 1), (1, 7)),
    "middle": ((3, 1, 5), (3, 4, 1)),
    "empty": ((0, 7), (1, 7)),
    "rank4": ((2, 1, 3, 1), (1, 2, 1, 3)),
}


def broadcast(name, shapes):
    """Hold one function whose arguments are broadcast."""
    row = ROWS[name]
    dtype = row.dtypes[0]

    def call():
        left, right = BROADCASTS[shapes]
        draw = kernels.random(name + shapes)
        first = ulp.rounded(draw.uniform(row.first[0], row.first[1], left), "float32")
        second = ulp.rounded(draw.uniform(row.second[0], row.second[1], right), "float32")
        wide = np.broadcast_arrays(first, second)
        want = reference.exact(row.exact, np.array(wide[0]), np.array(wide[1]))
        feed = [np.asarray(first, "float32"), np.asarray(second, "float32")]
        got = kernels.evaluate(row.build, feed, [dtype, dtype], row.op)
        return ulp.hold(got, [want], dtype, row.bound(dtype), wide, row.floor)

    return kernels.case("broadcast.%s.%s.%s" % (row.key, dtype, shapes), call)


BROADCAST = tuple(row.key for row in TABLE if row.exact is not None and row.dtypes[0] == "float32")


def compare(name, dtype):
    """Hold a comparison to Python's, NaN and both zeros included."""

    def call():
        draw = kernels.random(name + dtype)
        if dtype in ulp.FORMATS:
            grid = np.array([(a, b) for a in EDGES for b in EDGES])
            first, second = grid[:, 0], grid[:, 1]
        elif dtype == "bool":
            first, second = np.array([0, 0, 1, 1], bool), np.array([0, 1, 0, 1], bool)
        else:
            first, second = integers(ROWS["add"], dtype, draw)
        want = np.array([COMPARES[name](a, b) for a, b in zip(first.tolist(), second.tolist())])
        stored = "float32" if dtype == "bfloat16" else dtype
        feed = [first.astype(stored), second.astype(stored)]

        def build(x, y):
            return getattr(graphs.v1(), name)(x, y)

        got = kernels.evaluate(build, feed, [dtype, dtype])
        return kernels.same(got, want)

    return kernels.case("compare.%s.%s" % (name, dtype), call)


COMPARED = [
    (name, dtype)
    for name in sorted(COMPARES)
    for dtype in FLOATS + INTS + ("bool",)
    if dtype != "bool" or name in ("equal", "not_equal")
]
