"""Defects of released TensorFlows that the kernels' checks must find, and expect to find.

A case whose result is wrong where this table lists it comes out as `known`. One that is right
although it is listed is reported too: for the released wheel as a failure, since either the table
is wrong or the wheel is not the one that it says it is; for a wheel that somebody built, in words.
"""

import fnmatch

from tfsuite import expected, releases
from tfsuite.checks import KnownDefect, Wrong


class Defect(object):
    """One row.

    Attributes:
        cases: pattern of the cases' keys, `table.operation.type.what`.
        releases: the versions that have it, as measured on released wheels.
        reference: the public report, or how it was found.
        sure: False where it depends on the processor or on the number of threads.
        says: what the failure's message must contain.
    """

    def __init__(self, cases, releases, reference, sure=True, says=""):
        self.cases = cases
        self.releases = releases
        self.reference = reference
        self.sure = sure
        self.says = says


# Measured on the releases whose reports are in docs/evidence. "measured" stands where no public
# report was found.
TABLE = (
    # Sums over an outer axis go row by row into one accumulator.
    Defect("vector.outer_sum.*", ">=1.4", "measured: outer axis summed one by one", says="eps*sum"),
    Defect("vector.inner_sum.*", "<1.15", "measured: too few partial sums", False, "eps*sum"),
    Defect("vector.large_mean.*", ">=1.15", "tensorflow#56563", says="eps*sum"),
    Defect("vector.large_mean.*", "<1.15", "tensorflow#56563", False, "eps*sum"),
    Defect("vector.half_mean.*", ">=1.15", "tensorflow#115732", says="eps*sum"),
    Defect("vector.half_mean.*", "<1.15", "tensorflow#115732", False, "eps*sum"),
    Defect("vector.half_sum.*", "<1.15", "measured: summed in 16 bits", False, "eps*sum"),
    Defect("vector.argmax_nan.*", ">=1.15", "tensorflow#118177: NaN passed over", says="is "),
    Defect("vector.argmax_nan.*", "<1.15", "tensorflow#118177: NaN passed over", False, "is "),
    # Eigen's fast logistic clamps its argument.
    Defect("unary.sigmoid.float32.*", ">=1.13,<2.9", "measured: rational approximation", False),
    Defect("vector.small_sigmoid.*", ">=1.13,<2.7", "measured: rational approximation", says="ulp"),
    Defect("vector.large_sine.*", ">=1.4,<1.14", "measured: one-word reduction by pi", says="ulp"),
    # Eigen's square root by a reciprocal estimate: infinity becomes NaN in vectors.
    Defect("unary.sqrt.float32.*", "<2.7", "measured, cf. tensorflow#31408", False, "f(inf) = nan"),
    Defect("unary.rsqrt.float32.*", "<2.6", "measured", False, "f("),
    Defect(
        "unary.tanh.float32.*", ">=1.13,<1.14", "measured: NaN becomes -1", False, "f(nan) = -1"
    ),
    Defect("unary.log.float32.*", "<1.14", "measured", False, "f(inf) = 88.7"),
    Defect("unary.a*.float16.*", ">=1.13,<1.14", "measured: wrong at the ends", False, "f("),
    Defect("unary.sign.float*", "<2.6", "measured: sign(NaN) is 0", False, "f(nan) = 0"),
    Defect("unary.softplus.*", "<2.1", "measured: log(1 + exp(x))", False, "ulp"),
    Defect("unary.log_sigmoid.*", "<2.6", "measured: log(1 + exp(x))", False, "ulp"),
    Defect("unary.erf.float64.*", ">=2.16", "tensorflow#108483", False, "f(inf) = nan"),
    # Kernels without a body were registered for oneDNN to replace.
    Defect("nn.avg_pool.bfloat16", ">=2.5,<2.9", "tensorflow#56680", False, "Missing 0-th output"),
    Defect("nn.conv2d_same.bfloat16", ">=2.5,<2.9", "tensorflow#56680", False, "Missing 0-th"),
    # Two of one kind: neither is used.
    Defect("compare.less*.bfloat16", ">=1.13,<1.15", "tensorflow#30476", says="Multiple OpKernel"),
    Defect(
        "compare.less_equal.bfloat16", ">=2.0,<2.1", "tensorflow#30476", says="Multiple OpKernel"
    ),
    Defect("reduce.reduce_mean.bfloat16.empty", "<2.12", "measured", False, "is 0.0, expected nan"),
    Defect("vector.absolute_after_square.*", "<2.9", "measured", False, "ArithmeticOptimizer"),
    Defect(
        "cast.*.bfloat16", "<1.13", "measured: bits are cut off", False, "elements of the result"
    ),
    Defect("binary.floordiv.int*", "<2.5", "measured: overflows at the ends", False, "expected"),
    Defect("vector.floordiv_edges.*", "<2.5", "measured: overflows at the ends", False, "expected"),
    Defect(
        "signal.*fft*.complex64", "<1.13", "measured: inexact roots of unity", False, "eps*norm"
    ),
    Defect("signal.rfft.float32", "<1.13", "measured: inexact roots of unity", False, "eps*norm"),
    Defect("unary.*.bfloat16.*", "<2.5", "measured: NaN is lost", False, "f(nan)"),
    Defect("unary.*h.float16.*", "<2.5", "measured: NaN is lost", False, "f(nan)"),
    Defect("unary.*.bfloat16.*", "<2.5", "measured: computed in 16 bits", False, "f("),
    Defect("reduce.reduce_mean.uint8.*", "<2.5", "measured: summed in 8 bits", False, "differ"),
    Defect("vector.max_with_nan.*", "<2.5", "tensorflow#12659", False, "expected nan"),
    # XLA.
    Defect("unary_xla.relu6.float32.*", "<2.21", "tensorflow#119628", False, "f(nan) = 0"),
    Defect("unary_xla.*", "<2.21", "measured: compiled as if there were no NaN", False, "f(nan)"),
    Defect("unary_xla.*erf*.*", "<1.15", "measured: infinity becomes NaN", False, "f(inf) = nan"),
    Defect("unary_xla.lgamma.*", "<1.15", "measured: infinity becomes NaN", False, "f(inf) = nan"),
    Defect("unary_xla.rsqrt.*", "<2.1", "measured", False, "f(inf)"),
    Defect("unary_xla.*softplus.*", "<2.1", "measured", False, "ulp"),
    Defect("unary_xla.log_sigmoid.*", "<2.1", "measured", False, "ulp"),
    Defect("binary_xla.div_no_nan.*", "<2.1", "measured", False, "nan"),
    Defect("binary_xla.floordiv.*", "<2.5", "measured: overflows at the ends", False, "expected"),
    Defect("unary_xla.expm1.*", "<2.5", "measured: exp(x) - 1", False, "ulp"),
    Defect("unary_xla.sinh.*", "<2.5", "measured: from exp(x) - exp(-x)", False, "ulp"),
    Defect("unary_xla.*sigmoid.*", "<2.1", "measured", False, "ulp"),
    Defect("vector_xla.integer_mean.*", ">=2.6", "tensorflow#102043", says="expected -460036255"),
    Defect("vector*.integer_mean.*", "<2.6", "tensorflow#102043", False, "expected -460036255"),
    Defect("vector_xla.absolute_after_square.*", ">=2.3", "tensorflow#118178", says="-112"),
    # The process ends.
    Defect("crash.int_min_floordiv.*", "<2.4", "tensorflow#46887", says="died of signal 8"),
    Defect("crash.int_min_mod.*", "<2.4", "tensorflow#46887, #45771", says="died of signal 8"),
    Defect("crash.int_min_truncatediv.*", "<2.4", "measured", False, "died of signal 8"),
    Defect("crash.slice_backwards.*", "<1.13", "measured: x[4:0]", False, "died of signal 6"),
    Defect(
        "crash.matmul_onednn.*", "<2.9", "measured, with oneDNN on some CPUs", False, "signal 8"
    ),
    Defect("vector.empty_convolution.*", ">=2.7", "measured", False, "shape of"),
)


def listed(key, table):
    """The rows for a case in this release."""
    version = expected.load()["version"]
    return [
        row
        for row in table
        if fnmatch.fnmatchcase(key, row.cases) and releases.holds(row.releases, version)
    ]


def judged(key, call, table=None):
    """What `call` returns, unless it is wrong in a listed way or right against the list."""
    rows = listed(key, TABLE if table is None else table)
    try:
        result = call()
    except Wrong as error:
        for row in rows:
            if row.says in str(error):
                raise KnownDefect(str(error), row.reference, error.data) from error
        raise
    for row in rows:
        if row.sure:
            return _absent(row, result)
    return result


def _absent(row, result):
    text, data = result if isinstance(result, tuple) else (result, None)
    words = "the listed defect is absent: %s (%s)" % (row.cases, row.reference)
    if expected.load().get("released", True):
        raise Wrong("%s; %s" % (words, text), data)
    return "%s; %s" % (text, words), data
