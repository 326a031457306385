"""Operations that move elements: exact in every type."""

from tfsuite import kernels_rows
from tfsuite.kernels_rows import Row
from tfsuite.lazy import np

ALL = ("float32", "float64", "int32", "int64", "uint8", "bool", "complex64", "string")
SOME = ("float32", "int32", "int64")
ORDERED = ("float32", "float64", "int32")


def indices(*values):
    return lambda draw: np.array(values, "int32")


def blocks(x, size):
    b, h, w, c = x.shape
    cut = x.reshape(b, h // size, size, w // size, size, c)
    return cut.transpose(0, 1, 3, 2, 4, 5).reshape(b, h // size, w // size, size * size * c)


def unblocks(x, size):
    b, h, w, c = x.shape
    cut = x.reshape(b, h, w, size, size, c // size**2)
    return cut.transpose(0, 1, 3, 2, 4, 5).reshape(b, h * size, w * size, c // size**2)


def scattered(at, values):
    out = np.zeros((7, 3), values.dtype)
    for i, row in zip(at.ravel(), values):
        out[i] += row
    return out


def first_seen(x):
    seen, where = [], []
    for v in x.tolist():
        if v not in seen:
            seen.append(v)
        where.append(seen.index(v))
    return [np.array(seen, x.dtype), np.array(where, "int32")]


def top(x, k):
    at = np.argsort(-x, axis=-1, kind="mergesort")[..., :k]
    return [np.array([row[i] for row, i in zip(x, at)]), at.astype("int32")]


def reversed_heads(x, lengths):
    out = x.copy()
    for i, n in enumerate(lengths):
        out[i, :n] = x[i, :n][::-1]
    return out


def band(x, low, high):
    rows, columns = np.indices(x.shape[-2:])
    keep = (rows - columns <= low) & (columns - rows <= high)
    return np.where(keep, x, np.zeros_like(x))


def stitched(a, b):
    out = np.zeros((5,) + a.shape[1:], a.dtype)
    out[[0, 2, 4]], out[[1, 3]] = a, b
    return out


def set_difference(a, b):
    kept = [i for i, v in enumerate(a) if v not in set(b.tolist())]
    return [a[kept], np.array(kept, "int32")]


# fmt: off
ROWS = kernels_rows.named(
    (
        Row("concat", lambda t, a, b: t.concat([a, b], 1), lambda a, b: np.concatenate([a, b], 1), [(3, 4), (3, 5)], ALL),
        Row("concat_empty", lambda t, a, b: t.concat([a, b], 0), lambda a, b: b, [(0, 4), (3, 4)], SOME),
        Row("stack", lambda t, a, b: t.stack([a, b], 1), lambda a, b: np.stack([a, b], 1), [(3, 4), (3, 4)], ALL, ops="Pack"),
        Row("unstack", lambda t, x: t.unstack(x, axis=1), lambda x: [x[:, i] for i in range(3)], [(5, 3)], ALL, ops="Unpack"),
        Row("split", lambda t, x: t.split(x, 3, 1), lambda x: np.split(x, 3, 1), [(2, 9)], ALL, ops="Split"),
        Row("split_sizes", lambda t, x: t.split(x, [2, 0, 5], 1), lambda x: [x[:, :2], x[:, 2:2], x[:, 2:]], [(2, 7)], SOME, ops="SplitV"),
        Row("slice", lambda t, x: t.slice(x, [1, 2, 0], [2, 3, 1]), lambda x: x[1:3, 2:5, :1], [(4, 6, 2)], ALL, ops="Slice"),
        Row("strided_slice", lambda t, x: x[::-1, 1::2, None, -1], lambda x: x[::-1, 1::2, None, -1], [(4, 7, 3)], ALL, ops="StridedSlice"),
        Row("strided_slice_ellipsis", lambda t, x: x[..., 2:0:-1], lambda x: x[..., 2:0:-1], [(2, 3, 4)], SOME, ops="StridedSlice"),
        Row("gather", lambda t, x, i: t.gather(x, i), lambda x, i: x[i], [(7, 3), indices(6, 0, 3, 3)], ALL, ops=("Gather", "GatherV2")),
        Row("gather_axis", lambda t, x, i: t.gather(x, i, axis=1), lambda x, i: x[:, i], [(2, 7, 3), indices(6, 0, 3)], SOME),
        Row("gather_nd", lambda t, x, i: t.gather_nd(x, i), lambda x, i: x[i[:, 0], i[:, 1]], [(5, 4, 3), lambda d: np.array([[4, 3], [0, 0], [2, 1]], "int32")], ALL, ops="GatherNd"),
        Row("scatter_nd", lambda t, i, v: t.scatter_nd(i, v, [7, 3]), scattered, [lambda d: np.array([[6], [2], [2]], "int32"), (3, 3)], ("float32", "float64", "int32"), ops="ScatterNd"),
        Row("where", lambda t, c: t.where(c), lambda c: np.argwhere(c), [(4, 5)], ("bool",), ops="Where"),
        Row("select", lambda t, c, a, b: t.where(c, a, b), lambda c, a, b: np.where(c, a, b), [lambda d: d.randint(0, 2, (4, 5)).astype(bool), (4, 5), (4, 5)], ALL, ops=("Select", "SelectV2")),
        Row("tile", lambda t, x: t.tile(x, [2, 1, 3]), lambda x: np.tile(x, (2, 1, 3)), [(2, 3, 2)], ALL, ops="Tile"),
        Row("tile_none", lambda t, x: t.tile(x, [2, 0]), lambda x: np.tile(x, (2, 0)), [(2, 3)], SOME),
        Row("pad", lambda t, x: t.pad(x, [[1, 2], [0, 3]]), lambda x: np.pad(x, [(1, 2), (0, 3)], mode="constant"), [(3, 4)], ("float32", "float64", "int32", "int64"), ops=("Pad", "PadV2")),
        Row("pad_reflect", lambda t, x: t.pad(x, [[1, 2], [0, 3]], "REFLECT"), lambda x: np.pad(x, [(1, 2), (0, 3)], mode="reflect"), [(3, 4)], SOME, ops="MirrorPad"),
        Row("pad_symmetric", lambda t, x: t.pad(x, [[1, 2], [0, 3]], "SYMMETRIC"), lambda x: np.pad(x, [(1, 2), (0, 3)], mode="symmetric"), [(3, 4)], SOME, ops="MirrorPad"),
        Row("reverse", lambda t, x: t.reverse(x, [0, 2]), lambda x: x[::-1, :, ::-1], [(3, 4, 5)], ALL, ops="ReverseV2"),
        Row("reverse_sequence", lambda t, x, n: t.reverse_sequence(x, n, seq_axis=1, batch_axis=0), reversed_heads, [(4, 6), indices(6, 0, 3, 1)], SOME, ops="ReverseSequence"),
        Row("transpose", lambda t, x: t.transpose(x), lambda x: x.T, [(13, 7)], ALL, ops="Transpose"),
        Row("transpose_rank4", lambda t, x: t.transpose(x, [0, 3, 1, 2]), lambda x: x.transpose(0, 3, 1, 2), [(3, 5, 7, 4)], ALL, ops="Transpose"),
        Row("transpose_rank5", lambda t, x: t.transpose(x, [4, 2, 0, 3, 1]), lambda x: x.transpose(4, 2, 0, 3, 1), [(2, 3, 4, 5, 2)], SOME, ops="Transpose"),
        Row("reshape", lambda t, x: t.reshape(x, [-1, 6]), lambda x: x.reshape(-1, 6), [(4, 9)], ALL, ops="Reshape"),
        Row("squeeze", lambda t, x: t.squeeze(x, [1]), lambda x: x[:, 0], [(3, 1, 4)], SOME, ops="Squeeze"),
        Row("expand_dims", lambda t, x: t.expand_dims(x, -2), lambda x: x[:, None, :], [(3, 4)], SOME, ops="ExpandDims"),
        Row("one_hot", lambda t, i: t.one_hot(i, 5), lambda i: np.eye(5, dtype="float32")[np.clip(i, 0, 4)] * ((i >= 0) & (i < 5))[:, None], [indices(0, 4, 7, -1, 2)], ("int32",), ops="OneHot"),
        Row("range", lambda t, a, b: t.range(a, b, 3), lambda a, b: np.arange(a, b, 3), [lambda d: np.array(-4, "int32"), lambda d: np.array(20, "int32")], ("int32",), ops="Range"),
        Row("fill", lambda t, n, v: t.fill(n, v), lambda n, v: np.full(n, v), [indices(3, 0, 2), ()], SOME, ops="Fill"),
        Row("zeros_like", lambda t, x: t.zeros_like(x + x), lambda x: np.zeros_like(x), [(3, 4)], ("float32", "int32", "complex64")),
        Row("diag", lambda t, x: t.diag(x), lambda x: np.diag(x), [(5,)], SOME),
        Row("diag_part", lambda t, x: t.diag_part(x), lambda x: np.diag(x), [(5, 5)], SOME),
        Row("matrix_diag", lambda t, x: t.matrix_diag(x), lambda x: np.stack([np.diag(r) for r in x]), [(2, 4)], SOME),
        Row("matrix_band_part", lambda t, x: t.matrix_band_part(x, 1, 2), lambda x: band(x, 1, 2), [(2, 5, 6)], SOME, ops="MatrixBandPart"),
        Row("invert_permutation", lambda t, x: t.invert_permutation(x), lambda x: np.argsort(x).astype(x.dtype), [lambda d: d.permutation(9).astype("int32")], ("int32",), ops="InvertPermutation"),
        Row("unique", lambda t, x: list(t.unique(x)), first_seen, [lambda d: d.randint(0, 9, 30).astype("int32")], ("int32",), ops="Unique"),
        Row("unique_with_counts", lambda t, x: list(t.unique_with_counts(x)), lambda x: first_seen(x) + [np.array([np.sum(x == v) for v in first_seen(x)[0]], "int32")], [lambda d: d.randint(0, 9, 30).astype("int64")], ("int64",)),
        Row("setdiff1d", lambda t, a, b: list(t.setdiff1d(a, b)), set_difference, [lambda d: d.permutation(12).astype("int32"), indices(3, 5, 11)], ("int32",)),
        Row("top_k", lambda t, x: list(t.nn.top_k(x, 4)), lambda x: top(x, 4), [(3, 11)], ORDERED, ops="TopKV2"),
        Row("sort", lambda t, x: t.contrib.framework.sort(x) if not hasattr(t, "sort") else t.sort(x), lambda x: np.sort(x), [(3, 11)], ORDERED),
        Row("argsort", lambda t, x: t.argsort(x, stable=True), lambda x: np.argsort(x, kind="mergesort").astype("int32"), [(3, 11)], ("float32", "int32")),
        Row("searchsorted", lambda t, a, v: t.searchsorted(a, v), lambda a, v: np.searchsorted(a, v).astype("int32"), [lambda d: np.array([1.0, 2.0, 2.0, 5.0], "float32"), lambda d: np.array([0.0, 2.0, 3.0, 9.0], "float32")], ("float32",)),
        Row("roll", lambda t, x: (t.roll if hasattr(t, "roll") else t.manip.roll)(x, [2, -1], [0, 1]), lambda x: np.roll(np.roll(x, 2, 0), -1, 1), [(5, 4)], SOME, ops="Roll"),
        Row("space_to_depth", lambda t, x: t.space_to_depth(x, 2), lambda x: blocks(x, 2), [(2, 4, 6, 3)], SOME, ops="SpaceToDepth"),
        Row("depth_to_space", lambda t, x: t.depth_to_space(x, 2), lambda x: unblocks(x, 2), [(2, 3, 2, 8)], SOME, ops="DepthToSpace"),
        Row("meshgrid", lambda t, a, b: t.meshgrid(a, b), lambda a, b: list(np.meshgrid(a, b)), [(3,), (4,)], SOME),
        Row("broadcast_to", lambda t, x: t.broadcast_to(x, [4, 3, 5]), lambda x: np.array(np.broadcast_to(x, (4, 3, 5))), [(3, 1)], SOME, ops="BroadcastTo"),
        Row("boolean_mask", lambda t, x, m: t.boolean_mask(x, m), lambda x, m: x[m], [(6, 2), lambda d: np.array([1, 0, 0, 1, 1, 0], bool)], SOME),
        Row("dynamic_partition", lambda t, x, p: t.dynamic_partition(x, p, 3), lambda x, p: [x[p == i] for i in range(3)], [(6, 2), indices(2, 0, 0, 2, 0, 2)], SOME, ops="DynamicPartition"),
        Row("dynamic_stitch", lambda t, a, b: t.dynamic_stitch([[0, 2, 4], [1, 3]], [a, b]), stitched, [(3, 2), (2, 2)], SOME, ops="DynamicStitch"),
        Row("sequence_mask", lambda t, n: t.sequence_mask(n, 5), lambda n: np.arange(5) < n[:, None], [indices(0, 3, 5)], ("int32",)),
        Row("clip_by_value", lambda t, x: t.clip_by_value(x, 1, 3), lambda x: np.clip(x, 1, 3), [(7, 5)], ("float32", "float64", "int32")),
        Row("repeat", lambda t, x, n: t.repeat(x, n, axis=0), lambda x, n: np.repeat(x, n, 0), [(3, 2), indices(2, 0, 3)], SOME),
        Row("bincount", lambda t, x: t.bincount(x, minlength=8), lambda x: np.bincount(x, minlength=8).astype("int32"), [lambda d: d.randint(0, 8, 50).astype("int32")], ("int32",), ops=("Bincount", "DenseBincount")),
        Row("histogram_fixed_width", lambda t, x: t.histogram_fixed_width(x, [0.0, 4.0], 4), lambda x: np.array([np.sum((np.clip(np.floor(x), 0, 3) == i)) for i in range(4)], "int32"), [lambda d: (d.randint(-4, 24, 40) / 4.0 + 0.125).astype("float32")], ("float32",)),
        Row("confusion_matrix", lambda t, a, b: t.confusion_matrix(a, b, 3), lambda a, b: np.array([[np.sum((a == i) & (b == j)) for j in range(3)] for i in range(3)], "int32"), [indices(0, 1, 2, 2, 1), indices(0, 2, 2, 2, 0)], ("int32",)),
        Row("in_top_k", lambda t, x, i: t.nn.in_top_k(x, i, 2), lambda x, i: np.array([np.sum(x[r] > x[r, i[r]]) < 2 for r in range(4)]), [(4, 6), indices(0, 5, 2, 3)], ("float32",)),
        Row("space_to_batch", lambda t, x: t.space_to_batch(x, [[0, 0], [0, 0]], 2), lambda x: np.concatenate([x[:, i::2, j::2] for i in range(2) for j in range(2)]), [(1, 4, 6, 2)], SOME),
        Row("extract_image_patches", lambda t, x: t.extract_image_patches(x, [1, 2, 2, 1], [1, 1, 1, 1], [1, 1, 1, 1], "VALID"), lambda x: np.concatenate([x[:, i : i + 3, j : j + 4] for i in range(2) for j in range(2)], -1), [(1, 4, 5, 3)], ("float32", "float64")),
        Row("shape", lambda t, x: [t.shape(x), t.size(x), t.rank(x)], lambda x: [np.array(x.shape, "int32"), np.array(x.size, "int32"), np.array(x.ndim, "int32")], [(3, 0, 5)], SOME),
        Row("bitcast", lambda t, x: t.bitcast(x, t.int32), lambda x: x.view("int32"), [(3, 4)], ("float32",), ops="Bitcast"),
        Row("check_numerics", lambda t, x: t.check_numerics(x, "no"), lambda x: x, [(3, 4)], ("float32", "float64"), ops="CheckNumerics"),
        Row("accumulate_n", lambda t, a, b: t.add_n([a, b, a]), lambda a, b: a + b + a, [lambda d: d.randint(0, 9, (3, 4)).astype("float32"), lambda d: d.randint(0, 9, (3, 4)).astype("float32")], ("float32",), ops="AddN"),
        Row("logical", lambda t, a, b: [t.logical_and(a, b), t.logical_or(a, b), t.logical_xor(a, b), t.logical_not(a)], lambda a, b: [a & b, a | b, a ^ b, ~a], [(4, 5), (4, 5)], ("bool",)),
        Row("is_special", lambda t, x: [t.is_nan(x), t.is_inf(x), t.is_finite(x)], lambda x: [np.isnan(x), np.isinf(x), np.isfinite(x)], [lambda d: np.array([np.nan, np.inf, -np.inf, 0.0, 1.0, -0.0, 3e38], "float32")], ("float32",)),
        Row("invert", lambda t, x: t.bitwise.invert(x), lambda x: ~x, [lambda d: np.array([0, 1, -1, 7, 2**31 - 1, -(2**31)], "int32")], ("int32",)),
    )
)
# fmt: on

# Conversions: what is fed, and what C++ makes of it where that is defined.
CASTS = [
    (a, b)
    for a in ("float32", "float64", "float16", "int32", "int64", "uint8", "int8", "bool")
    for b in (
        "float32",
        "float64",
        "float16",
        "bfloat16",
        "int32",
        "int64",
        "uint8",
        "int16",
        "bool",
    )
    if a != b
]


def cast(source, target):
    from tfsuite import graphs, kernels, ulp

    def call():
        if source == "bool":
            values = np.array([True, False])
        elif source in ulp.FORMATS:
            values = np.array(
                [0.0, -0.0, 0.49, 0.5, 1.5, 2.5, 99.99, 100.75]
                + [-0.5, -1.99] * (target[0] != "u"),
                source,
            )
        else:
            values = np.array(
                [0, 1, 2, 100, 127] + [-1, -128] * (source[0] != "u" and target[0] != "u"), source
            )

        def build(x):
            return graphs.v1().cast(x, getattr(graphs.v1(), target))

        got = kernels.evaluate(build, [values], [source], ("Cast",))
        want = ulp.rounded(values, "bfloat16") if target == "bfloat16" else values.astype(target)
        return kernels.same(got, want)

    return kernels.case("cast.%s.%s" % (source, target), call)


def hold(name, dtype):
    return kernels_rows.hold("array", ROWS[name], dtype)
