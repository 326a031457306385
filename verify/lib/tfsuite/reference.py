"""Exact values of real and complex functions, from mpmath, and of sums, from fsum."""

import math

from tfsuite import ulp
from tfsuite.lazy import Lazy, np

mpmath = Lazy("mpmath")
PRECISION = 160  # bits: three times those of float64


def sigmoid(x):
    return 1 / (1 + mpmath.exp(-x))


def softplus(x):
    return mpmath.log1p(mpmath.exp(x)) if x < 500 else x + mpmath.exp(-x)


def softsign(x):
    return x / (1 + abs(x))


def elu(x):
    return x if x > 0 else mpmath.expm1(x)


def selu(x):
    alpha, scale = mpmath.mpf("1.6732632423543772"), mpmath.mpf("1.0507009873554805")
    return scale * x if x > 0 else scale * alpha * mpmath.expm1(x)


def lgamma(x):
    # log|gamma|: mpmath's loggamma is complex left of zero.
    return mpmath.loggamma(x).real if x > 0 else mpmath.log(abs(mpmath.gamma(x)))


def erfc(x):
    return mpmath.erfc(x) if abs(x) < 1000 else mpmath.mpf(0 if x > 0 else 2)


def erf(x):
    return mpmath.erf(x) if abs(x) < 1000 else mpmath.sign(x)


def ndtri(x):
    return mpmath.sqrt(2) * mpmath.erfinv(2 * x - 1)


def digamma(x):
    return mpmath.digamma(x)


def sinh(x):
    return mpmath.sinh(x)


def bessel_i0e(x):
    return mpmath.exp(-abs(x)) * mpmath.besseli(0, x) if abs(x) < 500 else _large_bessel(0, x)


def bessel_i1e(x):
    if abs(x) < 500:
        return mpmath.exp(-abs(x)) * mpmath.besseli(1, x)
    return mpmath.sign(x) * _large_bessel(1, x)


def _large_bessel(order, x):
    """exp(-|x|) I(order, |x|) by its asymptotic series (Abramowitz and Stegun 9.7.1)."""
    x, total, term, mu = abs(x), mpmath.mpf(1), mpmath.mpf(1), 4 * order * order
    for k in range(1, 20):
        term *= -(mu - (2 * k - 1) ** 2) / (k * 8 * x)
        total += term
    return total / mpmath.sqrt(2 * mpmath.pi * x)


def igamma(a, x):
    return mpmath.gammainc(a, 0, x, regularized=True)


def igammac(a, x):
    return mpmath.gammainc(a, x, mpmath.inf, regularized=True)


def betainc(a, b, x):
    return mpmath.betainc(a, b, 0, x, regularized=True)


def polygamma(n, x):
    return mpmath.polygamma(int(n), x)


def zeta(x, q):
    return mpmath.zeta(x, q)


def xlogy(x, y):
    return x * mpmath.log(y)


def xlog1py(x, y):
    return x * mpmath.log1p(y)


def function(name):
    """A function of this module, mpmath's of that name, or the function itself."""
    if not isinstance(name, str):
        return name
    return globals().get(name) or getattr(mpmath, name)


def exact(name, *arrays):
    """`Exact` values of a function at each element; NaN outside its real domain.

    Args:
        name: a function of this module or of mpmath, or the function itself.
        arrays: float64 or complex128, of one shape.
    """
    call = function(name)
    is_complex = np.iscomplexobj(arrays[0])
    kind = "complex128" if is_complex else "float64"
    flat = [np.asarray(a).ravel().tolist() for a in arrays]
    value = np.empty(len(flat[0]), kind)
    rest = np.zeros(len(flat[0]), kind)
    convert = mpmath.mpc if is_complex else mpmath.mpf
    with mpmath.workprec(PRECISION):
        for i, point in enumerate(zip(*flat)):
            value[i], rest[i] = _split(_at(call, [convert(p) for p in point]), is_complex)
    return ulp.Exact(value.reshape(arrays[0].shape), rest.reshape(arrays[0].shape))


def _at(call, point):
    try:
        return call(*point)
    except (ValueError, ZeroDivisionError):  # mpmath's words for a pole
        return mpmath.nan


def _split(result, is_complex):
    if is_complex:
        result = mpmath.mpmathify(result)
        parts = [_split(mpmath.re(result), False), _split(mpmath.im(result), False)]
        return complex(parts[0][0], parts[1][0]), complex(parts[0][1], parts[1][1])
    if getattr(result, "imag", 0) != 0:
        return float("nan"), 0.0
    result = mpmath.mpmathify(result).real
    high = _float(result)
    low = float(result - high) if math.isfinite(high) else 0.0
    return high, low


def _float(result):
    try:
        return float(result)
    except OverflowError:
        return float("inf") if result > 0 else float("-inf")


def derivative(name, *arrays, **options):
    """Exact values of a function's derivative with respect to its `index`-th argument."""
    index = options.get("index", 0)
    call = function(name)

    def slope(*point):
        def along(x):
            return call(*(point[:index] + (x,) + point[index + 1 :]))

        return mpmath.diff(along, point[index])

    return exact(slope, *arrays)


def total(values, axis):
    """Sums over some axes, rounded once: float64, whatever the order of the terms."""
    values = np.asarray(values, "float64")
    axis = tuple(range(values.ndim)) if axis is None else axis
    axis = (axis,) if isinstance(axis, int) else tuple(axis)
    kept = [i for i in range(values.ndim) if i not in {a % values.ndim for a in axis}]
    moved = np.transpose(values, kept + [i for i in range(values.ndim) if i not in kept])
    shape = moved.shape[: len(kept)]
    rows = moved.reshape((int(np.prod(shape, dtype=int)), -1)) if values.size else None
    if rows is None:
        return np.zeros(shape)
    return np.array([_fsum(row) for row in rows.tolist()]).reshape(shape)


def _fsum(row):
    try:
        return math.fsum(row)
    except (OverflowError, ValueError):  # infinities of both signs, or beyond float64
        return float(np.sum(row))
