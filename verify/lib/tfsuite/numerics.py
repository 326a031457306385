"""The error model.

A sum of products has |error| <= gamma * sum|a||b| with gamma about n*eps in the worst case; every
order of summation that real kernels use stays under 16*eps, because they sum in blocks. `eps` is
the unit roundoff, half the distance from 1 to the next number.
"""

from tfsuite.checks import Wrong
from tfsuite.lazy import np

UNIT = {
    "float16": 2.0**-11,
    "bfloat16": 2.0**-8,
    "float32": 2.0**-24,
    "float64": 2.0**-53,
    "complex64": 2.0**-24,
    "complex128": 2.0**-53,
}
CONTRACTION = 16


def contraction(got, want, scale, dtype, factor=CONTRACTION):
    """Hold a contraction to factor * eps * sum|a||b|.

    Args:
        got: the kernel's result.
        want: the result in higher precision.
        scale: sum|a||b| for each element.
        factor: how many unit roundoffs.
    """
    got = np.asarray(got)
    if got.shape != np.shape(want):
        raise Wrong("shape is %r, expected %r" % (got.shape, np.shape(want)))
    if not np.all(np.isfinite(got)):
        raise Wrong("%d elements are not finite" % np.sum(~np.isfinite(got)))
    unit = UNIT[str(dtype)] * np.maximum(np.asarray(scale, float), np.finfo(np.float32).tiny)
    wide = got.astype(np.complex128 if got.dtype.kind == "c" else np.float64)
    worst = float(np.max(np.abs(wide - want) / unit)) if got.size else 0.0
    data = {"error": worst, "bound": factor, "unit": "eps*sum|a||b|"}
    text = "largest error %.3g eps*sum|a||b|, bound %d" % (worst, factor)
    if not worst <= factor:
        raise Wrong(text, data)
    return text, data
