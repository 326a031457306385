"""Pictures, text, sparse and ragged tensors, control flow: what they make of known inputs."""

import base64

from tfsuite import kernels_rows
from tfsuite.kernels_rows import Row, sums, ulps
from tfsuite.lazy import np

F = ("float32",)
S = ("string",)
REAL = ("float32", "float64")


def picture(draw):
    return draw.uniform(0, 1, (2, 5, 6, 3)).astype("float32")


def one_picture(draw):
    return picture(draw)[0]


def bytes_picture(draw):
    return draw.randint(0, 256, (5, 7, 3)).astype("uint8")


def text(*values):
    return lambda draw: np.array(values, object)


def numbers(kind, *values):
    return lambda draw: np.array(values, kind)


def resized(x, height, width):
    """Bilinear, corners not aligned, as TensorFlow's first version: source = i * scale."""
    out = x.astype("float64")
    for axis, size in ((1, height), (2, width)):
        at = np.arange(size) * (float(out.shape[axis]) / size)
        low = np.floor(at).astype(int)
        high = np.minimum(low + 1, out.shape[axis] - 1)
        part = (at - low).reshape([-1 if a == axis else 1 for a in range(4)])
        out = np.take(out, low, axis) * (1 - part) + np.take(out, high, axis) * part
    return out


def nearest(x, height, width):
    rows = np.arange(height) * x.shape[1] // height
    columns = np.arange(width) * x.shape[2] // width
    return x[:, rows][:, :, columns]


def averaged(x):
    return x.astype("float64").reshape(2, 2, 3, 3, 2, 3).mean((2, 4))


def hsv(x):
    x = x.astype("float64")
    high, low = x.max(-1), x.min(-1)
    spread = np.where(high > low, high - low, 1.0)
    r, g, b = x[..., 0], x[..., 1], x[..., 2]
    hue = np.where(
        high == r, (g - b) / spread, np.where(high == g, 2 + (b - r) / spread, 4 + (r - g) / spread)
    )
    return np.stack([np.where(high > low, hue / 6 % 1, 0), (high - low) / high, high], -1)


def rgb(x):
    h, s, v = [x[..., i].astype("float64") for i in range(3)]
    k = [(n + h * 6) % 6 for n in (5, 3, 1)]
    return np.stack([v - v * s * np.clip(np.minimum(q, 4 - q), 0, 1) for q in k], -1)


def standardized(x):
    x = x.astype("float64")
    mean = x.mean((1, 2, 3), keepdims=True)
    deviation = x.std((1, 2, 3), keepdims=True)
    return (x - mean) / np.maximum(deviation, 1 / np.sqrt(90.0))


def ones(*arrays):
    return 1.0


def near_one(factor=16):
    """Values between 0 and 1 made by a few sums and products: factor roundings of 1."""
    return sums(ones, factor)


def suppressed(boxes, scores):
    """Greedy non-maximum suppression at 0.5."""
    kept = []
    for i in np.argsort(-scores):
        if all(overlap(boxes[i], boxes[j]) <= 0.5 for j in kept):
            kept.append(i)
    return np.array(kept, "int32")


def overlap(a, b):
    height = max(min(a[2], b[2]) - max(a[0], b[0]), 0)
    width = max(min(a[3], b[3]) - max(a[1], b[1]), 0)
    area = (a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - height * width
    return height * width / area


def boxes(draw):
    corner = draw.uniform(0, 1, (12, 2))
    return np.concatenate([corner, corner + draw.uniform(0.3, 0.7, (12, 2))], 1).astype("float32")


def gray(x):
    return np.dot(x.astype("float64"), [[0.2989], [0.5870], [0.1140]])


def round_trip(t, x):
    return [t.image.decode_png(t.image.encode_png(x)), t.image.decode_image(t.image.encode_png(x))]


# fmt: off
IMAGE = kernels_rows.named(
    (
        Row("resize_bilinear_up", lambda t, x: t.image.resize_bilinear(x, [9, 11]), lambda x: resized(x, 9, 11), [picture], F, near_one(), "ResizeBilinear"),
        Row("resize_bilinear_down", lambda t, x: t.image.resize_bilinear(x, [3, 4]), lambda x: resized(x, 3, 4), [picture], F, near_one(), "ResizeBilinear"),
        Row("resize_nearest", lambda t, x: t.image.resize_nearest_neighbor(x, [9, 4]), lambda x: nearest(x, 9, 4), [picture], F),
        Row("resize_area", lambda t, x: t.image.resize_area(x, [2, 3]), averaged, [lambda d: d.uniform(0, 1, (2, 6, 6, 3)).astype("float32")], F, near_one()),
        Row("resize_bicubic_same", lambda t, x: t.image.resize_bicubic(x, [5, 6]), lambda x: x, [picture], F, near_one()),
        Row("crop_and_resize", lambda t, x: t.image.crop_and_resize(x, [[0.0, 0.0, 1.0, 1.0]], [1], [5, 6]), lambda x: x[1:2], [picture], F, near_one(), "CropAndResize"),
        Row("rgb_to_hsv", lambda t, x: t.image.rgb_to_hsv(x), hsv, [picture], F, near_one(), "RGBToHSV"),
        Row("hsv_to_rgb", lambda t, x: t.image.hsv_to_rgb(x), rgb, [picture], F, near_one(64), "HSVToRGB"),
        Row("rgb_to_grayscale", lambda t, x: t.image.rgb_to_grayscale(x), gray, [picture], F, near_one()),
        Row("flip_left_right", lambda t, x: t.image.flip_left_right(x), lambda x: x[:, ::-1], [one_picture], F),
        Row("flip_up_down", lambda t, x: t.image.flip_up_down(x), lambda x: x[::-1], [bytes_picture], ("uint8",)),
        Row("rot90", lambda t, x: t.image.rot90(x, 3), lambda x: np.rot90(x, 3), [bytes_picture], ("uint8",)),
        Row("transpose_image", lambda t, x: (t.image.transpose if hasattr(t.image, "transpose") else t.image.transpose_image)(x), lambda x: x.transpose(1, 0, 2), [bytes_picture], ("uint8",)),
        Row("central_crop", lambda t, x: t.image.central_crop(x, 0.5), lambda x: x[2:6, 2:6], [lambda d: d.uniform(0, 1, (8, 8, 3)).astype("float32")], F),
        Row("pad_to_bounding_box", lambda t, x: t.image.pad_to_bounding_box(x, 1, 2, 8, 10), lambda x: np.pad(x, [(1, 2), (2, 1), (0, 0)], mode="constant"), [bytes_picture], ("uint8",)),
        Row("crop_to_bounding_box", lambda t, x: t.image.crop_to_bounding_box(x, 1, 2, 3, 4), lambda x: x[1:4, 2:6], [bytes_picture], ("uint8",)),
        Row("adjust_brightness", lambda t, x: t.image.adjust_brightness(x, 0.25), lambda x: x.astype("float64") + 0.25, [picture], F, near_one()),
        Row("adjust_contrast", lambda t, x: t.image.adjust_contrast(x, 2.0), lambda x: (x - x.mean((1, 2), keepdims=True, dtype="float64")) * 2 + x.mean((1, 2), keepdims=True, dtype="float64"), [picture], F, near_one(32)),
        Row("adjust_saturation_none", lambda t, x: t.image.adjust_saturation(x, 1.0), lambda x: x, [one_picture], F, near_one(64)),
        Row("adjust_hue_third", lambda t, x: t.image.adjust_hue(x, 1.0 / 3), lambda x: x[..., [2, 0, 1]], [one_picture], F, near_one(64)),
        Row("per_image_standardization", lambda t, x: t.map_fn(t.image.per_image_standardization, x), standardized, [picture], F, sums(lambda x: 4.0 + np.abs(standardized(x)))),
        Row("convert_image_dtype", lambda t, x: t.image.convert_image_dtype(x, t.float32), lambda x: x / 255.0, [bytes_picture], ("uint8",), lambda g, w, a, d: ulps(2)(g, w, a, "float32")),
        Row("sobel_edges", lambda t, x: t.image.sobel_edges(x)[:, 1:-1, 1:-1, :, 1], lambda x: sobel(x), [picture], F, sums(lambda x: 8.0)),
        Row("total_variation", lambda t, x: t.image.total_variation(x), lambda x: np.abs(np.diff(x.astype("float64"), axis=1)).sum((1, 2, 3)) + np.abs(np.diff(x.astype("float64"), axis=2)).sum((1, 2, 3)), [picture], F, sums(lambda x: x.sum((1, 2, 3)))),
        Row("psnr", lambda t, a, b: t.image.psnr(a, b, 1.0), lambda a, b: -10 * np.log10(((a.astype("float64") - b) ** 2).mean((1, 2, 3))), [picture, picture], F, ulps(16)),
        Row("non_max_suppression", lambda t, b, s: t.image.non_max_suppression(b, s, 12), suppressed, [boxes, lambda d: d.permutation(12).astype("float32")], F),
        Row("png_round_trip", round_trip, lambda x: [x, x], [bytes_picture], ("uint8",)),
        Row("jpeg_flat", lambda t, x: t.image.decode_jpeg(t.image.encode_jpeg(x, quality=100)), lambda x: x, [lambda d: np.full((16, 16, 3), 128, "uint8")], ("uint8",)),
        Row("grayscale_to_rgb", lambda t, x: t.image.grayscale_to_rgb(x), lambda x: np.repeat(x, 3, -1), [lambda d: bytes_picture(d)[..., :1]], ("uint8",)),
        Row("rgb_to_yuv", lambda t, x: t.image.yuv_to_rgb(t.image.rgb_to_yuv(x)), lambda x: x, [picture], F, near_one(1 << 14)),
    )
)
# fmt: on


def sobel(x):
    x = x.astype("float64")
    right, left = x[:, :, 2:], x[:, :, :-2]
    d = right - left
    return d[:, :-2] + 2 * d[:, 1:-1] + d[:, 2:]


WORDS = text("alpha", "", "Gamma delta", "z")
UNICODE = text("na\u00efve".encode("utf-8"), "\u4f60\u597d".encode("utf-8"))


def each(function):
    return lambda x: np.array([function(v) for v in x.tolist()], object)


# fmt: off
STRING = kernels_rows.named(
    (
        Row("as_string", lambda t, x: t.as_string(x), lambda x: np.array([str(v) for v in x.tolist()], object), [numbers("int64", 0, -7, 2**62)], ("int64",), ops="AsString"),
        Row("as_string_float", lambda t, x: t.as_string(x, precision=3), lambda x: np.array(["%.3f" % v for v in x.tolist()], object), [numbers("float32", 0.5, -2.25, 1e6)], F, ops="AsString"),
        Row("string_join", lambda t, x, y: t.string_join([x, y], "-"), lambda x, y: np.array([a + "-" + b for a, b in zip(x, y)], object), [WORDS, WORDS], S, ops="StringJoin"),
        Row("reduce_join", lambda t, x: t.reduce_join(x, 0, separator="+"), lambda x: np.array("+".join(x), object), [WORDS], S, ops="ReduceJoin"),
        Row("string_split", lambda t, x: t.string_split(x, ",").values, lambda x: np.array([p for v in x for p in v.split(",") if p], object), [text("a,b,,c", "d")], S, ops=("StringSplit", "StringSplitV2")),
        Row("substr", lambda t, x: t.substr(x, 1, 3), each(lambda v: v[1:4]), [text("alpha", "beta", "gamma")], S, ops="Substr"),
        Row("string_to_number", lambda t, x: t.string_to_number(x), lambda x: np.array([float(v) for v in x], "float32"), [text("1.5", "-3e4", "0.1", "16777217")], S, ops="StringToNumber"),
        Row("string_to_number_int", lambda t, x: t.string_to_number(x, t.int64), lambda x: np.array([int(v) for v in x], "int64"), [text("15", "-9223372036854775808")], S),
        Row("encode_base64", lambda t, x: t.encode_base64(x, pad=True), each(lambda v: base64.urlsafe_b64encode(v.encode("utf-8")).decode("ascii")), [WORDS], S, ops="EncodeBase64"),
        Row("decode_base64", lambda t, x: t.decode_base64(t.encode_base64(x)), lambda x: x, [WORDS], S, ops="DecodeBase64"),
        Row("regex_replace", lambda t, x: t.regex_replace(x, "[aeiou]", "<\\0>"), each(lambda v: "".join("<%s>" % c if c in "aeiou" else c for c in v)), [WORDS], S, ops=("RegexReplace", "StaticRegexReplace")),
        Row("regex_full_match", lambda t, x: t.strings.regex_full_match(x, "[a-z]+"), lambda x: np.array([v.isalpha() and v.islower() for v in x]), [WORDS], S),
        Row("length", lambda t, x: t.strings.length(x), lambda x: np.array([len(v) for v in x], "int32"), [WORDS], S, ops="StringLength"),
        Row("length_utf8", lambda t, x: t.strings.length(x, unit="UTF8_CHAR"), lambda x: np.array([len(v.decode("utf-8")) for v in x], "int32"), [UNICODE], S, ops="StringLength"),
        Row("lower", lambda t, x: [t.strings.lower(x), t.strings.upper(x)], lambda x: [each(str.lower)(x), each(str.upper)(x)], [WORDS], S),
        Row("strip", lambda t, x: t.string_strip(x), each(str.strip), [text("  a b ", "\tc\n", "")], S, ops="StringStrip"),
        Row("unicode_decode", lambda t, x: t.strings.unicode_decode(x, "UTF-8").to_tensor(0), lambda x: np.array([[110, 97, 239, 118, 101], [0x4F60, 0x597D, 0, 0, 0]], "int32"), [UNICODE], S),
        Row("unicode_script", lambda t, x: t.strings.unicode_script(x), lambda x: np.array([25, 17], "int32"), [numbers("int32", 97, 0x4F60)], ("int32",)),
        Row("hash_fast", lambda t, x: t.string_to_hash_bucket_fast(x, 1000003), lambda x: np.array(HASHES["fast"]), [WORDS], S, ops="StringToHashBucketFast"),
        Row("hash_strong", lambda t, x: t.string_to_hash_bucket_strong(x, 1000003, [11, 29]), lambda x: np.array(HASHES["strong"]), [WORDS], S, ops="StringToHashBucketStrong"),
        Row("decode_raw", lambda t, x: t.decode_raw(x, t.int32), lambda x: np.array([[1, 2, -1]], "int32"), [text(b"\x01\0\0\0\x02\0\0\0\xff\xff\xff\xff")], S, ops="DecodeRaw"),
        Row("decode_csv", lambda t, x: t.decode_csv(x, [[0], [0.0], ["?"]]), lambda x: [np.array([1, 0], "int32"), np.array([2.5, -1], "float32"), np.array(["a b", "?"], object)], [text("1,2.5,a b", ",-1,")], S, ops="DecodeCSV"),
        Row("string_equal", lambda t, x, y: [t.equal(x, y), t.not_equal(x, y)], lambda x, y: [x == y, x != y], [WORDS, text("alpha", " ", "gamma", "z")], S),
        Row("lookup_table", lambda t, x: looked_up(t, x), lambda x: np.array([0, -1, 2], "int64"), [text("a", "q", "c")], S),
    )
)
# fmt: on
# FarmHash64 and SipHash of the words modulo 1000003: the same in every release, since models keep
# such numbers (measured on 1.4.0, 2.6.5 and 2.21.0).
HASHES = {
    "fast": [869840, 377723, 206775, 110341],
    "strong": [576440, 27780, 956835, 83794],
}


def looked_up(t, x):
    table = getattr(t, "lookup", None)
    if table is None:
        import tensorflow as tf

        table = tf.contrib.lookup
    keys, values = t.constant(["a", "b", "c"]), t.constant([0, 1, 2], t.int64)
    made = getattr(table, "StaticHashTable", None) or table.HashTable
    found = made(table.KeyValueTensorInitializer(keys, values), -1)
    init = (
        found.init
        if hasattr(found, "init")
        else found.initializer
        if hasattr(found, "initializer")
        else found._initializer
    )
    with t.control_dependencies([init]):
        return found.lookup(t.identity(x))


DENSE = (4, 5)


def places(draw):
    return np.array([[0, 1], [1, 0], [1, 4], [3, 2]], "int64")


def sparse(t, at, values):
    return t.SparseTensor(at, values, [4, 5])


def dense(at, values):
    out = np.zeros((4, 5), values.dtype)
    out[at[:, 0], at[:, 1]] = values
    return out


def sparse_softmax(at, values):
    out = []
    for row, value in zip(at[:, 0], values):
        inside = np.exp(values[at[:, 0] == row].astype("float64"))
        out.append(np.exp(float(value)) / inside.sum())
    return np.array(out)


V = (4,)
# fmt: off
SPARSE = kernels_rows.named(
    (
        Row("sparse_to_dense", lambda t, i, v: t.sparse_to_dense(i, [4, 5], v), dense, [places, V], ("float32", "int32", "int64"), ops="SparseToDense"),
        Row("sparse_tensor_to_dense", lambda t, i, v: t.sparse_tensor_to_dense(sparse(t, i, v)), dense, [places, V], F),
        Row("sparse_matmul", lambda t, i, v, b: t.sparse_tensor_dense_matmul(sparse(t, i, v), b), lambda i, v, b: dense(i, v).astype("float64").dot(b), [places, V, (5, 3)], REAL, sums(lambda i, v, b: np.abs(dense(i, v)).astype("float64").dot(np.abs(b))), "SparseTensorDenseMatMul"),
        Row("sparse_add", lambda t, i, v, w: t.sparse_tensor_to_dense(t.sparse_add(sparse(t, i, v), sparse(t, i, w))), lambda i, v, w: dense(i, v + w), [places, V, V], F, ops="SparseAdd"),
        Row("sparse_add_dense", lambda t, i, v, b: t.sparse_add(sparse(t, i, v), b), lambda i, v, b: dense(i, v) + b, [places, V, DENSE], F),
        Row("sparse_reorder", lambda t, i, v: t.sparse_reorder(t.SparseTensor(t.reverse(i, [0]), t.reverse(v, [0]), [4, 5])).values, lambda i, v: v, [places, V], F, ops="SparseReorder"),
        Row("sparse_transpose", lambda t, i, v: t.sparse_tensor_to_dense(t.sparse_transpose(sparse(t, i, v))), lambda i, v: dense(i, v).T, [places, V], F),
        Row("sparse_concat", lambda t, i, v: t.sparse_tensor_to_dense(t.sparse_concat(1, [sparse(t, i, v), sparse(t, i, v)])), lambda i, v: np.concatenate([dense(i, v)] * 2, 1), [places, V], F, ops="SparseConcat"),
        Row("sparse_slice", lambda t, i, v: t.sparse_tensor_to_dense(t.sparse_slice(sparse(t, i, v), [1, 0], [2, 4])), lambda i, v: dense(i, v)[1:3, :4], [places, V], F, ops="SparseSlice"),
        Row("sparse_split", lambda t, i, v: [t.sparse_tensor_to_dense(p) for p in t.sparse_split(sp_input=sparse(t, i, v), num_split=2, axis=0)], lambda i, v: [dense(i, v)[:2], dense(i, v)[2:]], [places, V], F),
        Row("sparse_reshape", lambda t, i, v: t.sparse_tensor_to_dense(t.sparse_reshape(sparse(t, i, v), [2, 10])), lambda i, v: dense(i, v).reshape(2, 10), [places, V], F, ops="SparseReshape"),
        Row("sparse_reduce_sum", lambda t, i, v: t.sparse_reduce_sum(sparse(t, i, v), 1), lambda i, v: dense(i, v).sum(1, dtype="float64"), [places, V], F, sums(lambda i, v: np.abs(dense(i, v)).sum(1)), "SparseReduceSum"),
        Row("sparse_softmax", lambda t, i, v: t.sparse_softmax(sparse(t, i, v)).values, sparse_softmax, [places, V], F, sums(lambda i, v: 1.0), "SparseSoftmax"),
        Row("sparse_fill_empty_rows", lambda t, i, v: t.sparse_tensor_to_dense(t.sparse_fill_empty_rows(sparse(t, i, v), t.cast(-1, v.dtype))[0]), lambda i, v: dense(np.concatenate([i, [[2, 0]]]), np.append(v, np.array([-1], v.dtype))), [places, V], F, ops="SparseFillEmptyRows"),
        Row("sparse_maximum", lambda t, i, v, w: t.sparse_tensor_to_dense(t.sparse_maximum(sparse(t, i, v), sparse(t, i, w))), lambda i, v, w: dense(i, np.maximum(v, w)), [places, V, V], F),
        Row("sparse_retain", lambda t, i, v: t.sparse_tensor_to_dense(t.sparse_retain(sparse(t, i, v), [True, False, False, True])), lambda i, v: dense(i[[0, 3]], v[[0, 3]]), [places, V], F),
        Row("embedding_lookup_sparse", lambda t, i, v, p: t.nn.embedding_lookup_sparse(p, t.SparseTensor(i, v, [2, 2]), None, combiner="sum"), lambda i, v, p: np.stack([p[[1, 3]].sum(0, dtype="float64"), p[0].astype("float64")]), [lambda d: np.array([[0, 0], [0, 1], [1, 0]], "int64"), numbers("int64", 1, 3, 0), lambda d: d.standard_normal((5, 3)).astype("float32")], F, sums(lambda i, v, p: np.abs(p).sum(0))),
    )
)
# fmt: on


def rows(t, x):
    return t.RaggedTensor.from_row_splits(x, [0, 3, 3, 5, 6])


# fmt: off
RAGGED = kernels_rows.named(
    (
        Row("to_tensor", lambda t, x: rows(t, x).to_tensor(), lambda x: np.array([[x[0], x[1], x[2]], [0, 0, 0], [x[3], x[4], 0], [x[5], 0, 0]], x.dtype), [(6,)], ("float32", "int32")),
        Row("reduce_sum", lambda t, x: t.reduce_sum(rows(t, x), axis=1), lambda x: np.array([x[:3].sum(), 0, x[3:5].sum(), x[5]], x.dtype), [(6,)], ("int32", "int64")),
        Row("row_lengths", lambda t, x: rows(t, x).row_lengths(), lambda x: np.array([3, 0, 2, 1], "int64"), [(6,)], F),
        Row("concat", lambda t, x: t.concat([rows(t, x), rows(t, x)], 1).values, lambda x: np.concatenate([x[:3], x[:3], x[3:5], x[3:5], x[5:], x[5:]]), [(6,)], F),
        Row("gather", lambda t, x: t.gather(rows(t, x), [2, 0]).values, lambda x: np.concatenate([x[3:5], x[:3]]), [(6,)], F),
        Row("boolean_mask", lambda t, x: t.ragged.boolean_mask(x, [[True, False], [False, False], [True, True]]).values, lambda x: np.array([x[0, 0], x[2, 0], x[2, 1]]), [(3, 2)], F),
        Row("map_flat_values", lambda t, x: t.ragged.map_flat_values(t.negative, rows(t, x)).values, lambda x: -x, [(6,)], F),
        Row("range", lambda t, x: t.ragged.range([0, 5], [3, 7]).values + t.reduce_sum(x) * 0, lambda x: np.array([0, 1, 2, 5, 6], "int32"), [(1,)], ("int32",)),
        Row("from_tensor", lambda t, x: t.RaggedTensor.from_tensor(x, lengths=[2, 0, 3]).values, lambda x: np.concatenate([x[0, :2], x[2, :3]]), [(3, 4)], F),
        Row("to_sparse", lambda t, x: t.sparse_tensor_to_dense(rows(t, x).to_sparse()), lambda x: np.array([[x[0], x[1], x[2]], [0, 0, 0], [x[3], x[4], 0], [x[5], 0, 0]], x.dtype), [(6,)], F),
    )
)
# fmt: on


def factorial(t, n):
    one = t.constant(1, t.int32)
    return t.while_loop(lambda i, p: i <= n, lambda i, p: [i + 1, p * i], [one, one])[1]


def fibonacci(t, n):
    array = t.TensorArray(t.int32, size=10, clear_after_read=False).write(0, n * 0).write(1, n)

    def step(i, a):
        return i + 1, a.write(i, a.read(i - 1) + a.read(i - 2))

    return t.while_loop(lambda i, a: i < 10, step, [t.constant(2), array])[1].stack()


def grown(t, x):
    """A loop whose variable changes its shape."""
    shape = t.TensorShape([None])
    loop = t.while_loop(
        lambda i, a: i < 3,
        lambda i, a: [i + 1, t.concat([a, a], 0)],
        [t.constant(0), x],
        shape_invariants=[t.TensorShape([]), shape],
    )
    return loop[1]


def loop_gradient(t, x):
    power = t.while_loop(lambda i, p: i < 3, lambda i, p: [i + 1, p * x], [t.constant(0), x])[1]
    return t.gradients(power, x)[0]


# fmt: off
CONTROL = kernels_rows.named(
    (
        Row("cond", lambda t, x: [t.cond(x > 0, lambda: x * 2, lambda: -x), t.cond(x < 0, lambda: x * 2, lambda: -x)], lambda x: [x * 2, -x], [lambda d: np.array(3, "float32")], F),
        Row("case", lambda t, x: t.case([(x < 1, lambda: x + 1), (x < 5, lambda: x + 10)], default=lambda: x + 100), lambda x: x + 10, [lambda d: np.array(3, "int32")], ("int32",)),
        Row("while_loop", factorial, lambda n: np.array(5040, "int32"), [lambda d: np.array(7, "int32")], ("int32",)),
        Row("while_none", factorial, lambda n: np.array(1, "int32"), [lambda d: np.array(0, "int32")], ("int32",)),
        Row("tensor_array", fibonacci, lambda n: np.array([0, 1, 1, 2, 3, 5, 8, 13, 21, 34], "int32"), [lambda d: np.array(1, "int32")], ("int32",)),
        Row("growing_loop", grown, lambda x: np.tile(x, 8), [(2,)], F),
        Row("loop_gradient", loop_gradient, lambda x: 4 * x**3, [lambda d: np.array(2, "float32")], F),
        Row("map_fn", lambda t, x: t.map_fn(lambda r: t.reverse(r, [0]), x), lambda x: x[:, ::-1], [(4, 3)], ("float32", "int32")),
        Row("foldl", lambda t, x: [t.foldl(lambda a, b: a - b, x), t.foldr(lambda a, b: a - b, x)], lambda x: [x[0] - x[1:].sum(0), x[-1] - x[:-1].sum(0)], [(5, 2)], ("int32",)),
        Row("scan", lambda t, x: t.scan(lambda a, b: a + b, x), lambda x: np.cumsum(x, 0, dtype=x.dtype), [(5, 2)], ("int32",)),
        Row("group_order", lambda t, x: with_order(t, x), lambda x: x + 1, [(3,)], F),
        Row("py_func", lambda t, x: t.reshape(t.py_func(lambda v: v + 1, [x], x.dtype), [3]), lambda x: x + 1, [(3,)], F, ops=("PyFunc", "EagerPyFunc")),
        Row("assert_equal", lambda t, x: asserted(t, x), lambda x: x, [(3,)], F),
        Row("unsorted_cond_nested", lambda t, x: t.cond(x > 0, lambda: t.cond(x > 5, lambda: x, lambda: x * 10), lambda: x * 100), lambda x: x * 10, [lambda d: np.array(3, "float32")], F),
    )
)
# fmt: on


def with_order(t, x):
    with t.control_dependencies([t.identity(x)]):
        return x + 1


def asserted(t, x):
    with t.control_dependencies([t.assert_equal(x, x)]):
        return t.identity(x)


TABLES = {"image": IMAGE, "string": STRING, "sparse": SPARSE, "ragged": RAGGED, "control": CONTROL}


def hold(table, name, dtype):
    return kernels_rows.hold(table, TABLES[table][name], dtype)
