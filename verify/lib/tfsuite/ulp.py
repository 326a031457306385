"""The error model of elementwise kernels: units in the last place of the type.

One ULP at a value v is the distance between the two numbers of the type around v. A kernel is held
to a number of ULPs of the exact result, from a table per operation. Three things are not errors:

* the runtime's threads flush denormal numbers to zero, on their way in and on their way out;
* a result that overflows the type may be infinite or the largest number;
* where a function has a zero that is not at zero (sin near pi, lgamma near 1), no kernel that works
  in its own precision has small relative errors, so that one ULP is there that of `floor`.
"""

from tfsuite.checks import Wrong
from tfsuite.lazy import np

# Digits of the significand and the smallest and largest exponent, as IEEE 754 counts them.
FORMATS = {
    "float16": (11, -14, 15),
    "bfloat16": (8, -126, 127),
    "float32": (24, -126, 127),
    "float64": (53, -1022, 1023),
}
PARTS = {"complex64": "float32", "complex128": "float64"}


def tiny(dtype):
    """The smallest normal number."""
    return 2.0 ** FORMATS[dtype][1]


def largest(dtype):
    """The largest finite number."""
    digits, _, high = FORMATS[dtype]
    return float((2.0 - 2.0 ** (1 - digits)) * 2.0**high)


def rounded(values, dtype):
    """float64 values that are numbers of `dtype`, rounded to nearest."""
    values = np.asarray(values, "float64")
    if dtype == "bfloat16":
        return _bfloat16(values)
    with np.errstate(all="ignore"):
        return values.astype(dtype).astype("float64")


def _bfloat16(values):
    with np.errstate(all="ignore"):
        bits = values.astype("float32").view("uint32").astype("uint64")
    up = np.uint64(0x7FFF) + ((bits >> np.uint64(16)) & np.uint64(1))
    cut = ((bits + up) >> np.uint64(16)) << np.uint64(16)
    short = cut.astype("uint32").view("float32").astype("float64")
    return np.where(np.isnan(values), values, short)


def spacing(values, dtype):
    """One ULP at each value."""
    digits, low, high = FORMATS[dtype]
    finite = np.where(np.isfinite(values), np.abs(values), 1.0)
    exponent = np.frexp(finite)[1] - 1
    return np.ldexp(1.0, np.clip(exponent, low, high) - (digits - 1))


class Exact(object):
    """Exact results, as the sum of two float64 arrays: the value and what it leaves out."""

    def __init__(self, value, rest=0.0):
        self.value = np.asarray(value)
        self.rest = np.broadcast_to(np.asarray(rest, self.value.dtype), self.value.shape)

    def take(self, index):
        return Exact(self.value[index], self.rest[index])


def errors(got, want, dtype, floor=0.0):
    """Each element's distance from `want` in ULPs; infinite where no distance makes sense."""
    if dtype in PARTS:
        return _complex_errors(got, want, PARTS[dtype], floor)
    value, rest = want.value, want.rest
    got = np.asarray(got).astype("float64")
    with np.errstate(all="ignore"):
        unit = spacing(np.maximum(np.abs(value), floor), dtype)
        away = np.abs((got - value) - rest) / unit
        small = (np.abs(value) < tiny(dtype)) & (np.abs(got) <= 2 * tiny(dtype))
        away = np.where(small, 0.0, away)
        top = largest(dtype)
        over = np.abs(value) > top
        beyond = over & (np.sign(got) == np.sign(value)) & (np.isinf(got) | (np.abs(got) == top))
        away = np.where(beyond, 0.0, away)
        # A result just below the largest number may have been rounded up to infinity.
        edge = np.isinf(got) & ~over & (np.abs(value) > top / 2) & (np.sign(got) == np.sign(value))
        away = np.where(edge, (np.ldexp(1.0, FORMATS[dtype][2]) * 2 - np.abs(value)) / unit, away)
        away = np.where(np.isnan(value) & np.isnan(got), 0.0, away)
    return np.where(np.isnan(away), np.inf, away)


def _complex_errors(got, want, part, floor):
    value = want.value
    with np.errstate(all="ignore"):
        unit = spacing(np.maximum(np.abs(value), floor), part)
        away = np.abs((np.asarray(got).astype("complex128") - value) - want.rest) / unit
    return np.where(np.isnan(away), np.inf, away)


def hold(got, wants, dtype, bound, inputs, floor=0.0):
    """Fail unless each element is within `bound` ULPs of one of the results that are right.

    Args:
        got: the kernel's result.
        wants: `Exact` results; a second one is that of inputs whose denormals were flushed.
        inputs: the arrays that went in, for the message.
    """
    got = np.asarray(got)
    if got.shape != wants[0].value.shape:
        raise Wrong("shape is %r, expected %r" % (got.shape, wants[0].value.shape))
    away = errors(got, wants[0], dtype, floor)
    for other in wants[1:]:
        away = np.minimum(away, errors(got, other, dtype, floor))
    worst = float(np.max(away)) if away.size else 0.0
    data = {"error": worst if np.isfinite(worst) else "inf", "bound": bound, "unit": "ulp"}
    text = "largest error %.3g ulp, bound %g" % (worst, bound)
    if not worst <= bound:
        at = np.unravel_index(np.argmax(away), away.shape) if away.shape else ()
        fed = ", ".join(repr(np.asarray(i)[at].item()) for i in inputs)
        text += ": f(%s) = %r, exact %r" % (fed, got[at].item(), wants[0].value[at].item())
        raise Wrong("%s; %d of %d elements" % (text, np.sum(away > bound), away.size), data)
    return text, data
