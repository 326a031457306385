"""Ten small models, each a function of tensors; written with ops that every release has."""

from tfsuite.lazy import np


def _random(seed, *shape):
    return np.random.RandomState(seed).uniform(-1, 1, shape).astype("float32")


def mlp(tf1, x, w, v):
    return tf1.matmul(tf1.nn.relu(tf1.matmul(x, w)), v)


def convolution(tf1, x, w):
    y = tf1.nn.relu(tf1.nn.conv2d(x, w, strides=[1, 1, 1, 1], padding="SAME"))
    return tf1.nn.max_pool(y, [1, 2, 2, 1], [1, 2, 2, 1], "VALID")


def normalised(tf1, x, gamma):
    mean, variance = tf1.nn.moments(x, [0])
    return (x - mean) * tf1.rsqrt(variance + 0.001) * gamma


def attention(tf1, q, k, v):
    weights = tf1.nn.softmax(tf1.matmul(q, k, transpose_b=True) * 0.25)
    return tf1.matmul(weights, v)


def lstm_cell(tf1, x, h, w):
    i, j, f, o = tf1.split(tf1.matmul(tf1.concat([x, h], 1), w), 4, axis=1)
    c = tf1.sigmoid(f) * h + tf1.sigmoid(i) * tf1.tanh(j)
    return tf1.tanh(c) * tf1.sigmoid(o)


def cross_entropy(tf1, logits, targets):
    shifted = logits - tf1.reduce_max(logits, axis=-1, keepdims=True)
    total = tf1.log(tf1.reduce_sum(tf1.exp(shifted), axis=-1, keepdims=True))
    return -tf1.reduce_sum(targets * (shifted - total), axis=-1)


def residual(tf1, x, w):
    y = tf1.nn.relu(tf1.nn.conv2d(x, w, strides=[1, 1, 1, 1], padding="SAME"))
    return tf1.nn.relu(x + tf1.nn.conv2d(y, w, strides=[1, 1, 1, 1], padding="SAME"))


def embedding(tf1, table, indices):
    return tf1.reduce_sum(tf1.gather(table, indices), axis=1)


def polynomial(tf1, x):
    return ((x * 0.5 + 1.0) * x - 2.0) * x + tf1.exp(-x * x)


def pooled(tf1, x):
    y = tf1.nn.avg_pool(x, [1, 3, 3, 1], [1, 1, 1, 1], "SAME")
    return tf1.reduce_mean(tf1.transpose(y, [0, 3, 1, 2]), axis=[2, 3])


# name -> (function, its arguments)
MODELS = {
    "mlp": (mlp, lambda: [_random(1, 8, 16), _random(2, 16, 32), _random(3, 32, 4)]),
    "convolution": (convolution, lambda: [_random(4, 2, 8, 8, 3), _random(5, 3, 3, 3, 4)]),
    "normalised": (normalised, lambda: [_random(6, 32, 8), _random(7, 8)]),
    "attention": (attention, lambda: [_random(s, 2, 6, 16) for s in (8, 9, 10)]),
    "lstm-cell": (lstm_cell, lambda: [_random(11, 4, 8), _random(12, 4, 8), _random(13, 16, 32)]),
    "cross-entropy": (cross_entropy, lambda: [_random(14, 8, 10) * 5, np.eye(8, 10).astype("f")]),
    "residual": (residual, lambda: [_random(15, 1, 6, 6, 4), _random(16, 3, 3, 4, 4)]),
    "embedding": (embedding, lambda: [_random(17, 20, 8), np.arange(12, dtype="i4").reshape(3, 4)]),
    "polynomial": (polynomial, lambda: [_random(18, 257) * 2]),
    "pooled": (pooled, lambda: [_random(19, 2, 7, 7, 5)]),
}
NAMES = sorted(MODELS)
