"""Products, convolutions, pooling, normalisation and losses: sums to 16 eps sum|a||b|."""

from tfsuite import kernels_rows
from tfsuite.kernels_rows import Row, exact, normwise, sums, ulps
from tfsuite.lazy import np

REAL = ("float32", "float64")
WITH_HALF = REAL + ("float16", "bfloat16")
CONTRACT = REAL + ("float16", "bfloat16", "complex64")


def wide(x):
    return x.astype("complex128" if x.dtype.kind == "c" else "float64")


def absolutes(function):
    return lambda *arrays: function(*[np.abs(wide(a)) for a in arrays])


def widened(function):
    return lambda *arrays: function(*[wide(a) for a in arrays])


def product(name, build, function, inputs, dtypes=CONTRACT, ops=()):
    """A row whose result is a sum of products: the same function of |a| and |b| is its scale."""
    return Row(name, build, widened(function), inputs, dtypes, sums(absolutes(function)), ops)


def padded(size, kernel, stride, dilation, padding):
    """(before, after) of one dimension, as TensorFlow's SAME pads."""
    if padding == "VALID":
        return 0, 0
    reach = (kernel - 1) * dilation + 1
    need = max((-(-size // stride) - 1) * stride + reach - size, 0)
    return need // 2, need - need // 2


def convolution(image, kernel, strides, padding, dilations):
    """The definition in any number of dimensions, one kernel position at a time."""
    ranks = len(strides)
    pads = [
        padded(image.shape[i + 1], kernel.shape[i], strides[i], dilations[i], padding)
        for i in range(ranks)
    ]
    image = np.pad(image, [(0, 0)] + pads + [(0, 0)], mode="constant")
    sizes = [
        (image.shape[i + 1] - (kernel.shape[i] - 1) * dilations[i] - 1) // strides[i] + 1
        for i in range(ranks)
    ]
    total = 0
    for at in np.ndindex(*kernel.shape[:ranks]):
        cut = [slice(None)]
        for i in range(ranks):
            start = at[i] * dilations[i]
            cut.append(slice(start, start + (sizes[i] - 1) * strides[i] + 1, strides[i]))
        total = total + np.dot(image[tuple(cut)], kernel[at])
    return total


def conv(name, image, kernel, stride=1, padding="SAME", dilation=1, dtypes=REAL):
    ranks = len(image) - 2
    strides, dilations = [stride] * ranks, [dilation] * ranks

    def build(t, x, w):
        steps = [1] + strides + [1]
        if ranks == 3:
            return t.nn.conv3d(x, w, steps, padding)
        if dilation > 1:
            return t.nn.convolution(x, w, padding, dilation_rate=dilations)
        return t.nn.conv2d(x, w, strides=steps, padding=padding)

    def function(x, w):
        return convolution(x, w, strides, padding, dilations)

    return product(name, build, function, [image, kernel], dtypes)


def depthwise(x, w):
    out = [
        convolution(x[..., i : i + 1], w[:, :, i : i + 1, :], [1, 1], "SAME", [1, 1])
        for i in range(w.shape[2])
    ]
    return np.concatenate(out, -1)


def transposed(x, w):
    """The gradient of a VALID convolution with stride 2."""
    b, h, k, _ = x.shape
    out = np.zeros((b, (h - 1) * 2 + w.shape[0], (k - 1) * 2 + w.shape[1], w.shape[2]))
    for i in range(h):
        for j in range(k):
            patch = np.tensordot(x[:, i, j], w, ([1], [3]))
            out[:, 2 * i : 2 * i + w.shape[0], 2 * j : 2 * j + w.shape[1]] += patch
    return out


def pooled(function, x, size, stride, padding):
    """Windows of a picture, without the padding's own elements."""
    ranks = x.ndim - 2
    pads = [padded(x.shape[i + 1], size, stride, 1, padding) for i in range(ranks)]
    filled = np.pad(wide(x), [(0, 0)] + pads + [(0, 0)], mode="constant", constant_values=np.nan)
    sizes = [(n - size) // stride + 1 for n in filled.shape[1:-1]]
    out = np.empty((x.shape[0],) + tuple(sizes) + (x.shape[-1],))
    for at in np.ndindex(*sizes):
        cut = tuple(slice(a * stride, a * stride + size) for a in at)
        window = filled[(slice(None),) + cut]
        out[(slice(None),) + at] = function(window, axis=tuple(range(1, ranks + 1)))
    return out


def softmax(x):
    e = np.exp(wide(x) - np.max(wide(x), -1, keepdims=True))
    return e / np.sum(e, -1, keepdims=True)


def log_softmax(x):
    moved = wide(x) - np.max(wide(x), -1, keepdims=True)
    return moved - np.log(np.sum(np.exp(moved), -1, keepdims=True))


def cross_entropy(x, p):
    return -np.sum(wide(p) * log_softmax(x), -1)


def entropy_scale(x, p):
    return np.sum(np.abs(wide(p)) * (np.abs(log_softmax(x)) + np.abs(wide(x)) + 1), -1)


def probabilities(draw):
    p = draw.uniform(0.1, 1, (5, 7))
    return (p / p.sum(1, keepdims=True)).astype("float32")


def sigmoid_entropy(x, z):
    return np.maximum(wide(x), 0) - wide(x) * wide(z) + np.log1p(np.exp(-np.abs(wide(x))))


def batch_norm(x, scale, offset):
    x = wide(x)
    mean, variance = x.mean((0, 1, 2)), x.var((0, 1, 2))
    return (x - mean) / np.sqrt(variance + 1e-3) * wide(scale) + wide(offset)


def response_norm(x):
    x = wide(x)
    squares = np.pad(x * x, [(0, 0)] * 3 + [(2, 2)], mode="constant")
    around = sum(squares[..., i : i + x.shape[-1]] for i in range(5))
    return x / (1.0 + 0.5 * around) ** 0.75


def dilated(x, w):
    filled = np.pad(
        wide(x), [(0, 0), (1, 1), (1, 1), (0, 0)], mode="constant", constant_values=-np.inf
    )
    h, k = x.shape[1:3]
    parts = [filled[:, i : i + h, j : j + k] + wide(w)[i, j] for i in range(3) for j in range(3)]
    return np.max(parts, 0)


ONE4 = [1, 2, 2, 1]
# fmt: off
ROWS = kernels_rows.named(
    (
        product("matmul_one", lambda t, a, b: t.matmul(a, b), lambda a, b: a.dot(b), [(1, 1), (1, 1)], ops=("MatMul", "SparseMatMul")),
        product("matmul_odd", lambda t, a, b: t.matmul(a, b), lambda a, b: a.dot(b), [(17, 33), (33, 5)], ops=("MatMul", "SparseMatMul")),
        product("matmul_vector", lambda t, a, b: t.matmul(a, b), lambda a, b: a.dot(b), [(1, 65), (65, 31)], ops=("MatMul", "SparseMatMul")),
        product("matmul_transposed", lambda t, a, b: t.matmul(a, b, transpose_a=True, transpose_b=True), lambda a, b: a.T.dot(b.T), [(33, 9), (7, 33)], ops=("MatMul", "SparseMatMul")),
        product("matmul_adjoint", lambda t, a, b: t.matmul(a, b, adjoint_a=True), lambda a, b: a.conj().T.dot(b), [(33, 9), (33, 7)], ("complex64", "complex128")),
        Row("matmul_empty_depth", lambda t, a, b: t.matmul(a, b), lambda a, b: a.dot(b), [(3, 0), (0, 4)], REAL, exact),
        Row("matmul_int", lambda t, a, b: t.matmul(a, b), lambda a, b: a.dot(b), [(5, 9), (9, 4)], ("int32",), exact),
        product("batch_matmul", lambda t, a, b: t.matmul(a, b), lambda a, b: np.matmul(a, b), [(3, 2, 7, 11), (3, 2, 11, 5)], CONTRACT, ("BatchMatMul", "BatchMatMulV2", "BatchMatMulV3")),
        product("matvec", lambda t, a, b: t.linalg.matvec(a, b), lambda a, b: a.dot(b), [(9, 17), (17,)], REAL),
        product("tensordot", lambda t, a, b: t.tensordot(a, b, [[1, 2], [0, 1]]), lambda a, b: np.tensordot(a, b, 2), [(3, 4, 5), (4, 5, 6)], REAL),
        product("einsum", lambda t, a, b: t.einsum("bij,bjk->bik", a, b), lambda a, b: np.einsum("bij,bjk->bik", a, b), [(2, 3, 5), (2, 5, 4)], REAL),
        product("outer", lambda t, a, b: t.einsum("i,j->ij", a, b), lambda a, b: np.outer(a, b), [(9,), (5,)], REAL),
        conv("conv2d_same", (2, 11, 13, 5), (3, 3, 5, 8), dtypes=WITH_HALF),
        conv("conv2d_valid", (2, 11, 13, 5), (3, 3, 5, 8), padding="VALID"),
        conv("conv2d_stride", (1, 12, 9, 3), (5, 4, 3, 7), stride=2),
        conv("conv2d_dilated", (1, 13, 12, 3), (3, 3, 3, 4), dilation=2, padding="VALID"),
        conv("conv2d_pointwise", (2, 7, 5, 16), (1, 1, 16, 9)),
        conv("conv2d_one", (1, 1, 1, 1), (1, 1, 1, 1)),
        conv("conv3d_same", (1, 5, 6, 7, 3), (3, 3, 3, 3, 4)),
        conv("conv3d_stride", (1, 6, 6, 6, 2), (2, 2, 2, 2, 3), stride=2, padding="VALID"),
        product("depthwise_conv2d", lambda t, x, w: t.nn.depthwise_conv2d(x, w, [1, 1, 1, 1], "SAME"), depthwise, [(1, 7, 8, 3), (3, 3, 3, 2)], REAL),
        product("conv2d_transpose", lambda t, x, w: t.nn.conv2d_transpose(x, w, [1, 9, 11, 4], [1, 2, 2, 1], "VALID"), transposed, [(1, 4, 5, 3), (3, 3, 4, 3)], REAL),
        product("bias_add", lambda t, x, b: t.nn.bias_add(x, b), lambda x, b: x + b, [(2, 5, 6, 7), (7,)], WITH_HALF, "BiasAdd"),
        Row("max_pool", lambda t, x: t.nn.max_pool(x, [1, 3, 3, 1], ONE4, "SAME"), lambda x: pooled(np.nanmax, x, 3, 2, "SAME"), [(2, 9, 8, 5)], WITH_HALF, exact, "MaxPool"),
        Row("max_pool3d", lambda t, x: t.nn.max_pool3d(x, [1, 2, 2, 2, 1], [1, 2, 2, 2, 1], "VALID"), lambda x: pooled(np.nanmax, x, 2, 2, "VALID"), [(1, 6, 5, 4, 3)], ("float32",), exact),
        Row("avg_pool", lambda t, x: t.nn.avg_pool(x, [1, 3, 3, 1], ONE4, "SAME"), lambda x: pooled(np.nanmean, x, 3, 2, "SAME"), [(2, 9, 8, 5)], WITH_HALF, sums(lambda x: pooled(np.nanmean, np.abs(x), 3, 2, "SAME")), "AvgPool"),
        Row("avg_pool3d", lambda t, x: t.nn.avg_pool3d(x, [1, 2, 2, 2, 1], [1, 2, 2, 2, 1], "SAME"), lambda x: pooled(np.nanmean, x, 2, 2, "SAME"), [(1, 5, 5, 4, 3)], ("float32",), sums(lambda x: pooled(np.nanmean, np.abs(x), 2, 2, "SAME"))),
        Row("softmax", lambda t, x: t.nn.softmax(x), softmax, [(5, 37)], REAL, sums(lambda x: softmax(x) * (1 + np.max(np.abs(wide(x)), -1, keepdims=True) - wide(x))), "Softmax"),
        Row("softmax_large", lambda t, x: t.nn.softmax(x), softmax, [lambda d: np.array([[1e4, 1e4, -1e4], [-1e30, 0, 1], [88, 89, 90]], "float32")], ("float32",), sums(lambda x: softmax(x) + 1e-30)),
        Row("log_softmax", lambda t, x: t.nn.log_softmax(x), log_softmax, [(5, 37)], REAL, sums(lambda x: np.abs(log_softmax(x)) + np.abs(wide(x)) + 1), "LogSoftmax"),
        Row("softmax_cross_entropy", lambda t, x, p: t.nn.softmax_cross_entropy_with_logits(logits=x, labels=p), cross_entropy, [(5, 7), probabilities], ("float32",), sums(entropy_scale)),
        Row("sparse_softmax_cross_entropy", lambda t, x, i: t.nn.sparse_softmax_cross_entropy_with_logits(logits=x, labels=i), lambda x, i: -log_softmax(x)[range(4), i], [(4, 6), lambda d: np.array([0, 5, 2, 2], "int32")], REAL, sums(lambda x, i: (np.abs(log_softmax(x)) + np.abs(wide(x)) + 1)[range(4), i])),
        Row("sigmoid_cross_entropy", lambda t, x, z: t.nn.sigmoid_cross_entropy_with_logits(logits=x, labels=z), sigmoid_entropy, [(5, 7), (5, 7)], REAL, sums(lambda x, z: np.abs(wide(x)) * (1 + np.abs(wide(z))) + 1)),
        Row("l2_loss", lambda t, x: t.nn.l2_loss(x), lambda x: np.sum(wide(x) ** 2) / 2, [(5, 31)], REAL, sums(lambda x: np.sum(wide(x) ** 2) / 2), "L2Loss"),
        Row("l2_normalize", lambda t, x: t.nn.l2_normalize(x, 1), lambda x: wide(x) / np.linalg.norm(wide(x), axis=1, keepdims=True), [(5, 31)], REAL, ulps(8)),
        Row("moments", lambda t, x: list(t.nn.moments(x, [0])), lambda x: [wide(x).mean(0), wide(x).var(0)], [(32, 7)], REAL, sums(lambda x: np.mean(wide(x) ** 2, 0) + np.mean(np.abs(wide(x)), 0))),
        Row("lrn", lambda t, x: t.nn.local_response_normalization(x, 2, 1.0, 0.5, 0.75), response_norm, [(2, 3, 4, 9)], ("float32",), ulps(16), "LRN"),
        Row("fused_batch_norm", lambda t, x, s, o: t.nn.fused_batch_norm(x, s, o, epsilon=1e-3)[0], batch_norm, [(2, 5, 6, 3), (3,), (3,)], ("float32",), sums(lambda x, s, o: 4 * np.abs(wide(s)) * (np.abs(wide(x)) + 1) + np.abs(wide(o)))),
        Row("dilation2d", lambda t, x, w: t.nn.dilation2d(x, w, [1, 1, 1, 1], [1, 1, 1, 1], "SAME"), dilated, [(1, 6, 5, 3), (3, 3, 3)], REAL, ulps(1), "Dilation2D"),
        Row("crelu", lambda t, x: t.nn.crelu(x), lambda x: np.maximum(np.concatenate([x, -x], -1), 0), [(3, 4)], REAL),
        Row("leaky_relu", lambda t, x: t.nn.leaky_relu(x, alpha=0.25), lambda x: np.where(x > 0, x, x * 0.25), [(3, 4)], REAL),
        Row("dropout_none", lambda t, x: t.nn.dropout(x, 1.0), lambda x: x, [(3, 4)], REAL),
        Row("embedding_lookup", lambda t, x, i: t.nn.embedding_lookup(x, i), lambda x, i: x[i], [(9, 4), lambda d: np.array([8, 0, 3, 3], "int32")], REAL),
        Row("log_uniform_loss", lambda t, a, b: t.losses.mean_squared_error(a, b), lambda a, b: np.mean((wide(a) - wide(b)) ** 2), [(5, 7), (5, 7)], ("float32",), sums(lambda a, b: np.mean((np.abs(wide(a)) + np.abs(wide(b))) ** 2))),
    )
)
# fmt: on


def square(n):
    return lambda draw: (draw.standard_normal((2, n, n)) + 4 * np.eye(n)).astype("float64")


def definite(n):
    def make(draw):
        a = draw.standard_normal((2, n, n))
        return np.matmul(a, a.transpose(0, 2, 1)) + np.eye(n)

    return make


def lower(n):
    return lambda draw: np.tril(draw.standard_normal((2, n, n))) + 3 * np.eye(n)


def sizes(*arrays):
    """For solutions: |x| and |inverse|·|b|, the condition of these small matrices included."""
    inverse = np.linalg.inv(wide(arrays[0]))
    return np.matmul(
        np.abs(inverse),
        np.matmul(
            np.abs(wide(arrays[0])), np.abs(np.matmul(np.abs(inverse), np.abs(wide(arrays[1]))))
        ),
    )


def qr_product(t, x):
    q, r = t.qr(x)
    return [t.matmul(q, r), t.matmul(q, q, transpose_a=True)]


def svd_product(t, x):
    s, u, v = t.svd(x)
    return [t.matmul(u * t.expand_dims(s, -2), v, transpose_b=True), s]


def eigh_product(t, x):
    e, v = t.self_adjoint_eig(x)
    return [t.matmul(v * t.expand_dims(e, -2), v, transpose_b=True), e]


def solved(a, b):
    return np.linalg.solve(a, b)


B3 = (2, 5, 3)
F64 = ("float64",)
# fmt: off
LINALG = kernels_rows.named(
    (
        Row("cholesky", lambda t, x: t.cholesky(x), lambda x: np.linalg.cholesky(x), [definite(7)], F64, normwise(256), "Cholesky"),
        Row("qr", qr_product, lambda x: [x, np.stack([np.eye(7)] * 2)], [square(7)], F64, normwise(64), "Qr"),
        Row("svd", svd_product, lambda x: [x, np.linalg.svd(x, compute_uv=False)], [square(6)], F64, normwise(64), "Svd"),
        Row("self_adjoint_eig", eigh_product, lambda x: [x, np.linalg.eigvalsh(x)], [definite(6)], F64, normwise(64)),
        Row("self_adjoint_eigvals", lambda t, x: t.self_adjoint_eigvals(x), lambda x: np.linalg.eigvalsh(x), [definite(6)], F64, normwise(64)),
        Row("matrix_inverse", lambda t, x: t.matrix_inverse(x), lambda x: np.linalg.inv(x), [square(5)], F64, normwise(256), "MatrixInverse"),
        Row("matrix_solve", lambda t, a, b: t.matrix_solve(a, b), solved, [square(5), lambda d: d.standard_normal(B3)], F64, normwise(16, sizes), "MatrixSolve"),
        Row("matrix_triangular_solve", lambda t, a, b: t.matrix_triangular_solve(a, b), solved, [lower(5), lambda d: d.standard_normal(B3)], F64, normwise(16, sizes)),
        Row("cholesky_solve", lambda t, a, b: t.cholesky_solve(t.cholesky(a), b), solved, [definite(5), lambda d: d.standard_normal(B3)], F64, normwise(16, sizes)),
        Row("matrix_solve_ls", lambda t, a, b: t.matrix_solve_ls(a, b, fast=False), lambda a, b: np.stack([np.linalg.lstsq(x, y, rcond=-1)[0] for x, y in zip(a, b)]), [lambda d: d.standard_normal((2, 9, 4)), lambda d: d.standard_normal((2, 9, 2))], F64, normwise(1024)),
        Row("matrix_determinant", lambda t, x: t.matrix_determinant(x), lambda x: np.linalg.det(x), [square(5)], F64, normwise(64), "MatrixDeterminant"),
        Row("slogdet", lambda t, x: list(t.linalg.slogdet(x)), lambda x: [np.linalg.slogdet(x)[0], np.linalg.slogdet(x)[1]], [square(5)], F64, normwise(64)),
        Row("expm", lambda t, x: t.linalg.expm(x), lambda x: series(x), [lambda d: d.standard_normal((2, 4, 4)) / 4], F64, normwise(64)),
        Row("sqrtm", lambda t, x: t.matmul(t.linalg.sqrtm(x), t.linalg.sqrtm(x)), lambda x: x, [definite(4)], F64, normwise(256)),
        Row("lu", lambda t, x: t.gather(t.matmul(t.linalg.band_part(t.linalg.lu(x)[0], -1, 0) - t.linalg.diag(t.linalg.diag_part(t.linalg.lu(x)[0])) + t.eye(5, dtype=x.dtype), t.linalg.band_part(t.linalg.lu(x)[0], 0, -1)), t.invert_permutation(t.linalg.lu(x)[1])), lambda x: x, [lambda d: d.standard_normal((5, 5))], F64, normwise(64), "Lu"),
        Row("trace", lambda t, x: t.trace(x), lambda x: np.trace(x, axis1=1, axis2=2), [square(5)], F64, sums(lambda x: np.trace(np.abs(x), axis1=1, axis2=2))),
        Row("cross", lambda t, a, b: t.cross(a, b), lambda a, b: np.cross(wide(a), wide(b)), [(4, 3), (4, 3)], REAL, sums(lambda a, b: np.linalg.norm(wide(a), axis=1, keepdims=True) * np.linalg.norm(wide(b), axis=1, keepdims=True)), "Cross"),
        Row("norm_frobenius", lambda t, x: t.norm(x), lambda x: np.linalg.norm(wide(x)), [(7, 5)], REAL, normwise(16)),
        Row("matrix_transpose", lambda t, x: t.matrix_transpose(x), lambda x: x.transpose(0, 2, 1), [(2, 3, 4)], REAL),
        Row("eye", lambda t, x: t.eye(3, 4) + t.reduce_sum(x) * 0, lambda x: np.eye(3, 4, dtype="float32"), [(2,)], ("float32",)),
        Row("tridiagonal_solve", lambda t, d, b: t.linalg.tridiagonal_solve(d, b), lambda d, b: np.linalg.solve(np.diag(d[0, :-1], 1) + np.diag(d[1]) + np.diag(d[2, 1:], -1), b), [lambda d: d.standard_normal((3, 6)) + np.array([[0], [6], [0]]), lambda d: d.standard_normal((6, 2))], F64, normwise(64)),
    )
)
# fmt: on


def series(x):
    """exp of a small matrix by its Taylor series."""
    total, term = np.stack([np.eye(x.shape[-1])] * len(x)), np.stack([np.eye(x.shape[-1])] * len(x))
    for k in range(1, 40):
        term = np.matmul(term, x) / k
        total = total + term
    return total


def cosine(x):
    n = x.shape[-1]
    k, i = np.meshgrid(np.arange(n), np.arange(n), indexing="ij")
    return 2 * np.dot(wide(x), np.cos(np.pi * k * (2 * i + 1) / (2.0 * n)).T)


def frames(x, length, step):
    return np.stack([x[..., i : i + length] for i in range(0, x.shape[-1] - length + 1, step)], -2)


def overlapped(x, step):
    out = np.zeros((x.shape[-2] - 1) * step + x.shape[-1])
    for i, row in enumerate(wide(x)):
        out[i * step : i * step + len(row)] += row
    return out


def hann(n):
    return 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(n) / n)


C64 = ("complex64", "complex128")


def signal(t):
    return t.signal if hasattr(t, "signal") and hasattr(t.signal, "stft") else t.contrib.signal


# fmt: off
SIGNAL = kernels_rows.named(
    (
        Row("fft", lambda t, x: t.fft(x), lambda x: np.fft.fft(wide(x)), [(3, 32)], C64, normwise(64), "FFT"),
        Row("fft_prime", lambda t, x: t.fft(x), lambda x: np.fft.fft(wide(x)), [(3, 31)], C64, normwise(64), "FFT"),
        Row("ifft", lambda t, x: t.ifft(x), lambda x: np.fft.ifft(wide(x)), [(3, 24)], C64, normwise(64), "IFFT"),
        Row("fft2d", lambda t, x: t.fft2d(x), lambda x: np.fft.fft2(wide(x)), [(2, 8, 12)], C64, normwise(64), "FFT2D"),
        Row("ifft2d", lambda t, x: t.ifft2d(x), lambda x: np.fft.ifft2(wide(x)), [(2, 8, 12)], C64, normwise(64)),
        Row("fft3d", lambda t, x: t.fft3d(x), lambda x: np.fft.fftn(wide(x)), [(4, 6, 5)], C64, normwise(64), "FFT3D"),
        Row("rfft", lambda t, x: signal_rfft(t)(x), lambda x: np.fft.rfft(wide(x)), [(3, 30)], ("float32",), normwise(64), "RFFT"),
        Row("irfft", lambda t, x: signal_irfft(t)(x), lambda x: np.fft.irfft(wide(x)), [(3, 17)], ("complex64",), normwise(64), "IRFFT"),
        Row("dct", lambda t, x: t.signal.dct(x), cosine, [(3, 16)], ("float32",), normwise(64)),
        Row("frame", lambda t, x: signal(t).frame(x, 8, 3), lambda x: frames(x, 8, 3), [(2, 30)], ("float32",)),
        Row("overlap_and_add", lambda t, x: signal(t).overlap_and_add(x, 3), lambda x: overlapped(x, 3), [(5, 8)], ("float32",), sums(lambda x: overlapped(np.abs(x), 3))),
        Row("hann_window", lambda t, x: signal(t).hann_window(16) + t.reduce_sum(x) * 0, lambda x: hann(16), [(2,)], ("float32",), sums(lambda x: np.ones(16))),
        Row("stft", lambda t, x: signal(t).stft(x, 16, 4), lambda x: np.fft.rfft(frames(wide(x), 16, 4) * hann(16)), [(2, 64)], ("float32",), normwise(64)),
        Row("complex", lambda t, a, b: t.complex(a, b), lambda a, b: a + 1j * b, [(9,), (9,)], REAL, ops="Complex"),
        Row("real_imag", lambda t, x: [t.real(x), t.imag(x), t.conj(x)], lambda x: [x.real, x.imag, x.conj()], [(9,)], C64),
        Row("angle", lambda t, x: t.angle(x), lambda x: np.angle(wide(x)), [(9,)], ("complex64",), lambda g, w, a, d: ulps(4)(g, w, a, "float32")),
        Row("complex_abs", lambda t, x: t.abs(x), lambda x: np.abs(wide(x)), [(9,)], ("complex64",), lambda g, w, a, d: ulps(2)(g, w, a, "float32"), "ComplexAbs"),
    )
)
# fmt: on


def signal_rfft(t):
    return t.spectral.rfft if hasattr(t, "spectral") else t.signal.rfft


def signal_irfft(t):
    return t.spectral.irfft if hasattr(t, "spectral") else t.signal.irfft


TABLES = {"nn": ROWS, "linalg": LINALG, "signal": SIGNAL}


def hold(table, name, dtype, compiled=False):
    where = table + "_xla" if compiled else table
    return kernels_rows.hold(where, TABLES[table][name], dtype, compiled)
