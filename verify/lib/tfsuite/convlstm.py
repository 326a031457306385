"""ConvLSTM2D, cell by cell, in NumPy and double precision, with its running error bound.

The cell is that of Shi et al., "Convolutional LSTM Network" (2015), without peepholes, as Keras
has it: gates i, f, o and candidate g are convolutions of the input and of the last output,

    c = f*c + i*g        h = o*tanh(c)

The bound follows each float32 rounding through the cell: a convolution errs by 16*eps*sum|a||b|
(see numerics), an activation by its slope times that and a few eps of its own, a product by the
product rule. What is left out is of second order.
"""

from tfsuite.checks import Wrong
from tfsuite.lazy import np
from tfsuite.numerics import CONTRACTION, UNIT

ACTIVATION = 8  # eps: the absolute error of a float32 sigmoid or tanh, whose values are below 1


def convolve(x, kernel, padding="same", strides=1):
    """The 2-D cross-correlation of (n, h, w, c) with (kh, kw, c, f)."""
    kh, kw = kernel.shape[:2]
    if padding == "same":
        # With a stride, TensorFlow pads only as much as the last window needs.
        sides = zip(x.shape[1:3], (kh, kw))
        need = [max((-(-n // strides) - 1) * strides + k - n, 0) for n, k in sides]
        x = np.pad(x, [(0, 0)] + [(n // 2, n - n // 2) for n in need] + [(0, 0)], "constant")
    rows = (x.shape[1] - kh) // strides + 1
    columns = (x.shape[2] - kw) // strides + 1
    out = np.zeros((x.shape[0], rows, columns, kernel.shape[3]), x.dtype)
    for i in range(kh):
        for j in range(kw):
            window = x[:, i : i + rows * strides : strides, j : j + columns * strides : strides]
            window = window[:, :rows, :columns]
            out += np.tensordot(window, kernel[i, j], axes=([3], [0]))
    return out


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


# Keras 3 took over the definition of other frameworks.
HARD_SIGMOID = {
    "2": (lambda x: np.clip(0.2 * x + 0.5, 0, 1), 0.2),
    "3": (lambda x: np.clip(x / 6 + 0.5, 0, 1), 1.0 / 6),
}


def gate(name, keras="2"):
    """(function, largest slope) of a recurrent activation."""
    return (sigmoid, 0.25) if name == "sigmoid" else HARD_SIGMOID[keras]


def run(frames, weights, activation=(sigmoid, 0.25), padding="same", strides=1):
    """Outputs after each frame and the last cell state, each as (value, bound).

    Args:
        frames: (batch, time, height, width, colours).
        weights: kernel, recurrent kernel and bias, as the layer's get_weights() gives them.
        activation: what `gate` gives.
    """
    x = np.asarray(frames, "float64")
    kernel, recurrent, bias = [np.asarray(w, "float64") for w in weights]
    eps = UNIT["float32"]
    shape = convolve(x[:, 0], kernel, padding, strides).shape[:3] + (recurrent.shape[2],)
    h, c, eh, ec = [np.zeros(shape) for _ in range(4)]
    outputs, bounds = [], []
    for time in range(x.shape[1]):
        pre = convolve(x[:, time], kernel, padding, strides) + convolve(h, recurrent) + bias
        size = convolve(abs(x[:, time]), abs(kernel), padding, strides)
        size += convolve(abs(h), abs(recurrent)) + abs(bias)
        epre = CONTRACTION * eps * size + convolve(eh, abs(recurrent))
        act, slope = activation
        (i, f, g, o), (ei, ef, eg, eo) = np.split(pre, 4, -1), np.split(epre, 4, -1)
        i, f, g, o = act(i), act(f), np.tanh(g), act(o)
        ei, ef, eo = [slope * e + ACTIVATION * eps for e in (ei, ef, eo)]
        eg = eg + ACTIVATION * eps
        ec = f * ec + abs(c) * ef + i * eg + abs(g) * ei + 3 * eps * (abs(f * c) + abs(i * g))
        c = f * c + i * g
        eh = o * (ec + ACTIVATION * eps) + abs(np.tanh(c)) * eo
        h = o * np.tanh(c)
        outputs.append(h)
        bounds.append(eh)
    return (np.stack(outputs, 1), np.stack(bounds, 1)), (c, ec)


def weights(inputs, filters, number, kernel=3):
    """Weights of a layer that take the gates out of their linear range.

    The recurrent kernel is small enough that a rounding error does not grow from frame to frame.
    """
    random = np.random.RandomState(number)
    return [
        random.normal(0, 0.4, (kernel, kernel, inputs, 4 * filters)).astype("float32"),
        random.normal(0, 0.15, (kernel, kernel, filters, 4 * filters)).astype("float32"),
        random.normal(0, 0.4, (4 * filters,)).astype("float32"),
    ]


def hold(got, want, bound):
    """Evidence that every element of `got` is within its own bound of `want`.

    Raises:
        Wrong: one is not.
    """
    got = np.asarray(got, "float64")
    if got.shape != want.shape:
        raise Wrong("shape is %r, expected %r" % (got.shape, want.shape))
    ratio = abs(got - want) / bound
    worst = float(np.max(np.where(np.isfinite(ratio), ratio, np.inf)))
    data = {"error": worst, "bound": 1, "unit": "running error bound"}
    text = "largest error %.3g of its running error bound (at most %.2g)" % (worst, np.max(bound))
    if not worst <= 1:
        raise Wrong(text, data)
    return text, data
