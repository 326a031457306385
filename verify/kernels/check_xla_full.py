"""The same kernels, compiled by XLA: its own approximations, held to bounds of their own."""

import pytest
from tfsuite import kernels_binary, kernels_nn, kernels_reduce, kernels_unary, kernels_vectors
from tfsuite.checks import check

UNARY = [row.key for row in kernels_unary.TABLE if row.xla is not None]
BINARY = [(row.key, row.dtypes[0]) for row in kernels_binary.TABLE]
BINARY += [(key, "int32") for key in ("add", "subtract", "multiply", "maximum", "floordiv")]
LAYOUTS = ("inner", "outer", "middle", "kept")
NN = (
    "matmul_odd batch_matmul tensordot einsum conv2d_same conv2d_stride conv2d_dilated conv3d_same "
    "depthwise_conv2d conv2d_transpose max_pool avg_pool softmax log_softmax l2_loss moments "
    "fused_batch_norm leaky_relu sparse_softmax_cross_entropy sigmoid_cross_entropy"
).split()


@check(
    "kernels.xla_unary",
    proves="A function of one argument compiled by XLA is within its ULPs of the exact value.",
    catches=["wrong-only-under-xla"],
    needs=["xla"],
)
@pytest.mark.parametrize("name", sorted(UNARY))
def check_xla_unary(name):
    return kernels_unary.hold(name, "float32", compiled=True)


@check(
    "kernels.xla_binary",
    proves="A function of two arguments compiled by XLA is right, integer overflow included.",
    catches=["wrong-only-under-xla"],
    needs=["xla"],
)
@pytest.mark.parametrize("name,dtype", BINARY)
def check_xla_binary(name, dtype):
    return kernels_binary.hold(name, dtype, compiled=True)


@check(
    "kernels.xla_reduce",
    proves="A reduction compiled by XLA is right over inner, outer, middle and empty axes.",
    catches=["wrong-only-under-xla"],
    needs=["xla"],
)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", sorted(kernels_reduce.ROWS))
def check_xla_reduce(name, layout):
    return kernels_reduce.hold(name, "float32", layout, compiled=True)


@check(
    "kernels.xla_nn",
    proves="Products, convolutions and losses compiled by XLA are within the native bounds.",
    catches=["wrong-only-under-xla"],
    needs=["xla"],
)
@pytest.mark.parametrize("name", NN)
def check_xla_nn(name):
    return kernels_nn.hold("nn", name, "float32", compiled=True)


@check(
    "kernels.xla_vector",
    proves="An input that XLA computed wrongly in some release gives the right result.",
    catches=["wrong-only-under-xla"],
    needs=["xla"],
)
@pytest.mark.parametrize("name", sorted(kernels_vectors.COMPILED))
def check_xla_vector(name):
    return kernels_vectors.compiled(name)
