"""ConvLSTM2D itself: shapes, weights, and every number of the cell."""

import pytest
from tfsuite import convlstm, models, nextframe
from tfsuite.checks import check, require, same
from tfsuite.lazy import np


def layer(tf, **options):
    """A small ConvLSTM2D; its activations are named, because Keras 3 has others by default."""
    chosen = dict({"padding": "same", "recurrent_activation": "sigmoid"}, **options)
    return tf.keras.layers.ConvLSTM2D(4, 3, **chosen)


def frames(count=2, time=4, height=6, width=5, colours=3, number=11):
    random = np.random.RandomState(number)
    return random.uniform(-1, 1, (count, time, height, width, colours)).astype("float32")


def predicted(tf, made, x):
    """What a layer with known weights makes of `x`, and those weights."""
    model = models.one_layer(tf, made, x.shape[1:])
    weights = convlstm.weights(x.shape[-1], 4, 12)
    model.set_weights(weights)
    return np.asarray(model.predict(x)), weights


@check(
    "convlstm.parameters",
    proves="The next-frame model has as many weights as its definition, in each layer.",
    catches=["convlstm-without-bias"],
)
@pytest.mark.parametrize("head", nextframe.HEADS)
def check_parameters(tf, head):
    models.reset(tf)
    model = nextframe.model(tf, head)
    same("the number by definition", nextframe.parameters(head), nextframe.PARAMETERS[head])
    same("the number of weights", model.count_params(), nextframe.PARAMETERS[head])
    sizes = [sum(int(np.prod(w.shape)) for w in part.get_weights()) for part in model.layers]
    same("the weights of all layers", sum(sizes), nextframe.PARAMETERS[head])
    return "%d: %s" % (sum(sizes), " + ".join(str(size) for size in sizes if size))


@check(
    "convlstm.shapes",
    proves="Batch and time stay open: one model takes movies of any number and length.",
    catches=["convlstm-returns-first"],
)
@pytest.mark.parametrize("head", nextframe.HEADS)
def check_shapes(tf, head):
    models.reset(tf)
    model = nextframe.model(tf, head)
    open_time = (None, None) if head == "conv3d" else (None,)
    size = nextframe.SIZE
    same("the output's shape", tuple(model.output_shape), open_time + (size, size, 3))
    for count, time in ((1, 1), (2, 5), (3, 3)):
        out = model.predict(nextframe.movies(count, 1, time))
        want = (count, time, size, size, 3) if head == "conv3d" else (count, size, size, 3)
        same("the shape for %d movies of %d frames" % (count, time), out.shape, want)
        require(0 <= out.min() and out.max() <= 1, "a sigmoid's output lies outside 0..1")
    return "%r for lengths 1, 3 and 5" % (tuple(model.output_shape),)


@check(
    "convlstm.cell",
    proves="Every output of the layer is what the cell's equations give, frame by frame.",
    catches=["convlstm-leaks", "convlstm-without-bias", "convlstm-returns-first"],
)
@pytest.mark.parametrize("activation", ["sigmoid", "hard_sigmoid"])
@pytest.mark.parametrize("sequences", [True, False])
def check_cell(tf, expect, activation, sequences):
    models.reset(tf)
    made = layer(tf, return_sequences=sequences, recurrent_activation=activation)
    got, weights = predicted(tf, made, frames())
    gate = convlstm.gate(activation, models.version(expect))
    (want, bound), _ = convlstm.run(frames(), weights, gate)
    return convlstm.hold(
        got, want if sequences else want[:, -1], bound if sequences else bound[:, -1]
    )


@check(
    "convlstm.borders",
    proves="Strides and borders without padding reach the input's convolution, not the state's.",
    catches=["convlstm-leaks"],
)
@pytest.mark.parametrize("padding,strides", [("valid", 1), ("same", 2), ("valid", 2)])
def check_borders(tf, padding, strides):
    models.reset(tf)
    made = layer(tf, return_sequences=True, padding=padding, strides=strides)
    x = frames(height=7, width=9)
    got, weights = predicted(tf, made, x)
    (want, bound), _ = convlstm.run(x, weights, padding=padding, strides=strides)
    return convlstm.hold(got, want, bound)


@check(
    "convlstm.last_output",
    proves="Without return_sequences the layer gives the last output, and the states on request.",
    catches=["convlstm-returns-first"],
)
def check_last_output(tf):
    models.reset(tf)
    inputs = tf.keras.layers.Input(shape=(4, 6, 5, 3))
    out, h, c = layer(tf, return_state=True)(inputs)
    model = tf.keras.models.Model(inputs, [out, h, c])
    weights = convlstm.weights(3, 4, 12)
    model.set_weights(weights)
    out, h, c = model.predict(frames())
    (outputs, bounds), (cell, cell_bound) = convlstm.run(frames(), weights)
    convlstm.hold(out, outputs[:, -1], bounds[:, -1])
    require(np.array_equal(out, h), "the returned state is not the last output")
    return convlstm.hold(c, cell, cell_bound)


@check(
    "convlstm.go_backwards",
    proves="go_backwards reads the movie from its end.",
    catches=["convlstm-never-backwards"],
)
def check_go_backwards(tf):
    models.reset(tf)
    got, weights = predicted(tf, layer(tf, go_backwards=True), frames())
    (want, bound), _ = convlstm.run(frames()[:, ::-1], weights)
    return convlstm.hold(got, want[:, -1], bound[:, -1])


@check(
    "convlstm.stateful",
    proves="A stateful layer goes on where the last batch ended, until it is reset.",
    catches=["convlstm-leaks", "convlstm-forgets-state"],
)
def check_stateful(tf):
    models.reset(tf)
    inputs = tf.keras.layers.Input(batch_shape=(2, 2, 6, 5, 3))
    made = layer(tf, stateful=True, return_sequences=True)
    model = tf.keras.models.Model(inputs, made(inputs))
    weights = convlstm.weights(3, 4, 12)
    model.set_weights(weights)
    x = frames()
    halves = [model.predict(x[:, :2], batch_size=2), model.predict(x[:, 2:], batch_size=2)]
    (want, bound), _ = convlstm.run(x, weights)
    found = convlstm.hold(np.concatenate(halves, 1), want, bound)
    made.reset_states() if hasattr(made, "reset_states") else made.reset_state()
    again = model.predict(x[:, :2], batch_size=2)
    require(np.array_equal(again, halves[0]), "after the reset the first half comes out otherwise")
    return found


@check(
    "convlstm.batch",
    proves="A movie's prediction does not depend on the movies beside it.",
    catches=["convlstm-mixes-batch"],
)
def check_batch(tf):
    models.reset(tf)
    made = layer(tf, return_sequences=True)
    model = models.one_layer(tf, made, (4, 6, 5, 3))
    weights = convlstm.weights(3, 4, 12)
    model.set_weights(weights)
    x = frames(count=3)
    (want, bound), _ = convlstm.run(x, weights)
    alone = np.concatenate([model.predict(x[n : n + 1]) for n in range(3)])
    convlstm.hold(model.predict(x), want, bound)
    return convlstm.hold(alone, want, bound)


@check(
    "convlstm.gradient",
    proves="Backpropagation reaches through time: it equals the slope of the cell's equations.",
    catches=["convlstm-truncates-time"],
    # 1.4.0's Keras makes this layer in single precision only.
    releases=">=1.15",
)
def check_gradient(tf):
    models.reset(tf)
    tf.keras.backend.set_floatx("float64")
    try:
        model = from_rest(tf, layer(tf, dtype="float64"))
        weights = [w.astype("float64") for w in convlstm.weights(3, 4, 12)]
        model.set_weights(weights)
        x = frames().astype("float64")
        direction = np.random.RandomState(13).normal(size=(2, 6, 5, 4))
        loss = lambda out: tf.reduce_sum(out * tf.constant(direction))  # noqa: E731
        found = models.gradients(tf, model, loss, x)
    finally:
        tf.keras.backend.set_floatx("float32")
        models.reset(tf)

    def value(changed):
        (outputs, _), _ = convlstm.run(x, changed)
        return float(np.sum(outputs[:, -1] * direction))

    worst = 0.0
    for place, index in slopes(weights):
        one, two = (
            slope(value, weights, place, index, 1e-3),
            slope(value, weights, place, index, 5e-4),
        )
        # Richardson: the coarse difference is wrong by h^2, so both tell how wrong the fine one is.
        want, error = two + (two - one) / 3, abs(two - one) + 1e-9 * abs(two)
        got = float(np.asarray(found[place])[index])
        worst = max(worst, abs(got - want) / error)
        require(
            abs(got - want) <= error,
            "the gradient at %d%r is %.9g, the slope %.9g +- %.2g"
            % (place, index, got, want, error),
        )
    return "12 slopes, largest error %.2g of the difference quotient's own" % worst


def from_rest(tf, made):
    """A model that is given its first states: TensorFlow 1 makes them in single precision only."""
    inputs = tf.keras.layers.Input(shape=(4, 6, 5, 3))
    rest = tf.zeros((2, 6, 5, 4), "float64")
    return tf.keras.models.Model(inputs, made(inputs, initial_state=[rest, rest]))


def slopes(weights):
    """Four elements of each weight."""
    random = np.random.RandomState(14)
    for place, weight in enumerate(weights):
        for _ in range(4):
            yield place, tuple(int(random.randint(side)) for side in weight.shape)


def slope(value, weights, place, index, h):
    """The central difference quotient."""
    ends = []
    for sign in (h, -h):
        changed = [w.copy() for w in weights]
        changed[place][index] += sign
        ends.append(value(changed))
    return (ends[0] - ends[1]) / (2 * h)
