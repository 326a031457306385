"""Matrix products and convolutions against float64."""

import pytest
from tfsuite import graphs, numerics
from tfsuite.checks import check
from tfsuite.lazy import np

SHAPES = {
    "one": (1, 1, 1),
    "odd": (17, 33, 5),
    "deep": (64, 1024, 64),
    "wide": (128, 256, 192),
}


@check(
    "kernels.matmul",
    proves="MatMul is within 16 eps sum|a||b| of the float64 product.",
    catches=["wrong-matmul"],
)
@pytest.mark.parametrize("shape", sorted(SHAPES))
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def check_matmul(tf1, shape, dtype):
    rows, depth, columns = SHAPES[shape]
    random = np.random.RandomState(depth)
    a = random.standard_normal((rows, depth)).astype(dtype)
    b = random.standard_normal((depth, columns)).astype(dtype)
    with graphs.session() as session:
        left = tf1.placeholder(dtype, a.shape)
        right = tf1.placeholder(dtype, b.shape)
        got = session.run(tf1.matmul(left, right), {left: a, right: b})
    wide = np.longdouble
    want = np.dot(a.astype(wide), b.astype(wide))
    scale = np.dot(np.abs(a).astype(wide), np.abs(b).astype(wide))
    return numerics.contraction(got, want, scale, dtype)


@check(
    "kernels.conv2d",
    proves="Conv2D is within 16 eps sum|a||b| of the float64 convolution.",
    catches=["wrong-conv2d"],
)
@pytest.mark.parametrize("padding", ["SAME", "VALID"])
def check_conv2d(tf1, padding):
    random = np.random.RandomState(7)
    image = random.standard_normal((2, 11, 13, 16)).astype("float32")
    kernel = random.standard_normal((3, 3, 16, 8)).astype("float32")
    with graphs.session() as session:
        x = tf1.placeholder("float32", image.shape)
        w = tf1.placeholder("float32", kernel.shape)
        op = tf1.nn.conv2d(x, w, strides=[1, 1, 1, 1], padding=padding)
        got = session.run(op, {x: image, w: kernel})
    want = conv2d(image.astype("float64"), kernel.astype("float64"), padding)
    scale = conv2d(np.abs(image).astype("float64"), np.abs(kernel).astype("float64"), padding)
    return numerics.contraction(got, want, scale, "float32")


def conv2d(image, kernel, padding):
    """The definition, one kernel position at a time."""
    height, width = kernel.shape[:2]
    if padding == "SAME":
        pad = [(0, 0), (height // 2, height // 2), (width // 2, width // 2), (0, 0)]
        image = np.pad(image, pad, mode="constant")
    rows = image.shape[1] - height + 1
    columns = image.shape[2] - width + 1
    total = np.zeros((image.shape[0], rows, columns, kernel.shape[3]))
    for i in range(height):
        for j in range(width):
            total += np.dot(image[:, i : i + rows, j : j + columns, :], kernel[i, j])
    return total
