"""Products, convolutions, pooling, losses, factorisations and transforms."""

import pytest
from tfsuite import kernels_nn
from tfsuite.checks import check


def first(table):
    return [(name, row.dtypes[0]) for name, row in sorted(kernels_nn.TABLES[table].items())]


@check(
    "kernels.nn",
    proves="Products, convolutions, pooling and losses are within their bounds of float64.",
    catches=["wrong-matmul", "wrong-conv2d", "softmax-overflows"],
)
@pytest.mark.parametrize("name,dtype", first("nn"))
def check_nn(name, dtype):
    return kernels_nn.hold("nn", name, dtype)


@check(
    "kernels.linalg",
    proves="Factorisations multiply to their matrix and solutions solve, within backward error.",
    catches=["cholesky-loses-digits"],
)
@pytest.mark.parametrize("name,dtype", first("linalg"))
def check_linalg(name, dtype):
    return kernels_nn.hold("linalg", name, dtype)


@check(
    "kernels.signal",
    proves="Fourier and cosine transforms, frames and windows are those of numpy.",
    catches=["ifft-unscaled"],
)
@pytest.mark.parametrize("name,dtype", first("signal"))
def check_signal(name, dtype):
    return kernels_nn.hold("signal", name, dtype)
