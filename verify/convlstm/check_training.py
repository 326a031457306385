"""The next-frame model learns: mean absolute error, Adam, and what is left after saving."""

import os

import pytest
from tfsuite import known, models, nextframe
from tfsuite.checks import Wrong, check, require, same
from tfsuite.lazy import np
from tfsuite.numerics import UNIT

EPS = UNIT["float32"]
EPOCHS = 12
# Roundings of one Adam step: 1 - 0.999 and 1 - 0.9 in single precision, and the sums around them.
STEP = 0.5 / (1 - 0.999) + 1 / (1 - 0.9) + 64
_TRAINED = {}


def trained(tf, head):
    """(model, losses): trained once per process."""
    if head not in _TRAINED:
        nextframe.seed(tf, 1)
        model = nextframe.model(tf, head)
        model.compile(optimizer=nextframe.adam(tf, 0.01), loss="mae")
        movies = nextframe.movies(16, 0)
        wanted = nextframe.target(head, movies)
        fitted = model.fit(movies[:, :-1], wanted, batch_size=4, epochs=EPOCHS, verbose=0)
        _TRAINED[head] = (model, [float(loss) for loss in fitted.history["loss"]])
    return _TRAINED[head]


@check(
    "convlstm.training",
    proves="With mean absolute error and Adam the loss falls to less than 0.6 of its first value.",
    catches=["keras-gradient-sign", "keras-updates-lost"],
    limit=170,
)
@pytest.mark.parametrize("head", nextframe.HEADS)
def check_training(tf, head):
    _, losses = trained(tf, head)
    text = "%.3f to %.3f in %d epochs" % (losses[0], losses[-1], EPOCHS)
    require(np.all(np.isfinite(losses)), "the losses are %s" % losses)
    require(losses[-1] < 0.6 * losses[0], text)
    return text, {"losses": losses}


@check(
    "convlstm.beats_copying",
    proves="On movies never seen, the prediction is better than a copy of the last frame or its mean.",
    catches=["keras-updates-lost", "keras-gradient-sign"],
    limit=170,
)
@pytest.mark.parametrize("head", nextframe.HEADS)
def check_beats_copying(tf, head):
    model, _ = trained(tf, head)
    movies = nextframe.movies(8, 1)
    wanted = movies[:, -1]
    out = model.predict(movies[:, :-1])
    error = float(np.mean(abs((out[:, -1] if head == "conv3d" else out) - wanted)))
    copying = float(np.mean(abs(movies[:, -2] - wanted)))
    flat = float(np.mean(abs(wanted - np.mean(wanted, (1, 2), keepdims=True))))
    text = "error %.3f, copying %.3f, the mean colour %.3f" % (error, copying, flat)
    require(error < 0.75 * min(copying, flat), text)
    return text, {"prediction": error, "copying": copying, "mean": flat}


@check(
    "convlstm.loss_is_mae",
    proves="The loss that Keras reports is the mean absolute error of what it predicts.",
    catches=["keras-squares-error"],
    limit=170,
)
@pytest.mark.parametrize("head", nextframe.HEADS)
def check_loss_is_mae(tf, head):
    model, _ = trained(tf, head)
    return known.judged("loss_is_mae." + head, lambda: loss_is_mae(model, head), DEFECTS)


def loss_is_mae(model, head):
    movies = nextframe.movies(4, 2)
    wanted = nextframe.target(head, movies)
    out = np.asarray(model.predict(movies[:, :-1]), "float64")
    errors = abs(out - wanted)
    reported = float(model.evaluate(movies[:, :-1], wanted, batch_size=4, verbose=0))
    # A float32 mean of n numbers, summed in blocks: 16 eps of the mean, as for every sum.
    bound = 16 * EPS * float(np.mean(errors + abs(out)))
    off = abs(reported - float(np.mean(errors)))
    data = {"error": off / bound * 16, "bound": 16, "unit": "eps*mean(|p-y|+|p|)"}
    require(off <= bound, "reported %.8f, is %.8f" % (reported, np.mean(errors)), data)
    return "%.6f" % reported, data


def adam_step(gradient, epsilon):
    """The first step of Adam in learning rates: Kingma and Ba, "Adam" (2015), algorithm 1 at t = 1.

    Both bias corrections cancel against the moments' first weights. Keras adds epsilon before the
    correction (the paper's remark at the end of section 2), so it counts 1/sqrt(0.001) times.
    Returns the step and how much it changes when the gradient errs by one part of its size.
    """
    grown = epsilon / np.sqrt(1 - 0.999)
    return -gradient / (abs(gradient) + grown), grown / (abs(gradient) + grown) ** 2


@check(
    "convlstm.adam_step",
    proves="One step of training moves each weight as Adam's formula says of its gradient.",
    catches=[
        "keras-gradient-sign",
        "keras-updates-lost",
        "keras-adam-uncorrected",
        "keras-squares-error",
    ],
)
def check_adam_step(tf):
    return known.judged("adam_step", lambda: one_step(tf), DEFECTS)


def one_step(tf):
    models.reset(tf)
    nextframe.seed(tf, 3)
    layers = tf.keras.layers
    frames = layers.Input(shape=(None, nextframe.SIZE, nextframe.SIZE, 3))
    x = layers.ConvLSTM2D(4, 3, padding="same", return_sequences=True)(frames)
    model = tf.keras.models.Model(frames, layers.Conv3D(3, 3, padding="same")(x))
    rate = 0.01
    model.compile(optimizer=nextframe.adam(tf, rate), loss="mae")
    movies = nextframe.movies(4, 3)
    # Far above every output: elsewhere the slope of |p - y| would turn on a rounding error.
    x, wanted = movies[:, :-1], movies[:, 1:] + 2
    before = weights(model)
    loss = lambda out: tf.reduce_mean(abs(out - tf.constant(wanted)))  # noqa: E731
    gradients = [np.asarray(g, "float64") for g in models.gradients(tf, model, loss, x)]
    model.train_on_batch(x, wanted)
    # 1e-7, and 1e-8 in TensorFlow 1.4.
    epsilon = float(getattr(model.optimizer, "epsilon", None) or 1e-7)
    worst = 0.0
    for old, new, gradient in zip(before, weights(model), gradients):
        step, slope = adam_step(gradient, epsilon)
        # Two graphs for one gradient: they differ as sums do. The weight itself is rounded.
        noise = 64 * EPS * np.max(abs(gradient))
        bound = rate * (slope * noise + STEP * EPS) + 2 * EPS * abs(old)
        worst = max(worst, float(np.max(abs(new - old - rate * step) / bound)))
    data = {"error": worst, "bound": 1, "unit": "rounding of the gradient and of the weight"}
    text = "%d weights, largest error %.2g of its bound" % (sum(g.size for g in gradients), worst)
    require(worst <= 1, text, data)
    return text, data


def weights(model):
    return [np.asarray(w, "float64") for w in model.get_weights()]


LOSS = "tensorflow#25970: the loss of outputs of four and more axes is multiplied by the batch"
DEFECTS = (
    known.Defect("loss_is_mae.*", ">=1.13,<1.14", LOSS, says="reported"),
    known.Defect("adam_step", ">=1.13,<1.14", LOSS, says="of its bound"),
    known.Defect(
        "saved.h5",
        ">=1.13,<1.14",
        "tensorflow#25938: a model whose loss is an object cannot be loaded",
        says="Unknown entry in loss dictionary",
    ),
    known.Defect(
        "saved.savedmodel",
        ">=2.0,<2.16",
        "tensorflow#44670: a SavedModel is loaded without the optimizer's state",
        says="after two more steps",
    ),
    known.Defect(
        "saved.h5",
        ">=2.16",
        "seen in Keras 3.13.2, no public report known: the loaded optimizer is built for no variables",
        sure=False,
        says="does not train",
    ),
)
FORMATS = {"h5": "model.h5", "savedmodel": "model", "keras": "model.keras"}


@check(
    "convlstm.saved",
    proves="A saved and loaded model predicts bit for bit the same and trains on alike.",
    catches=["keras-load-forgets", "keras-load-forgets-optimizer"],
    limit=170,
)
@pytest.mark.parametrize("format", sorted(FORMATS))
def check_saved(tf, expect, scratch, format):
    reason = no_format(tf, expect, format)
    if reason:
        pytest.skip(reason)
    models.reset(tf)
    nextframe.seed(tf, 4)
    head = "conv3d"
    model = nextframe.model(tf, head)
    # Keras 3 writes the short name of a loss into an HDF5 file, and cannot read it again.
    loss = getattr(tf.keras.losses, "MeanAbsoluteError", lambda: "mae")()
    model.compile(optimizer=nextframe.adam(tf, 0.01), loss=loss)
    movies = nextframe.movies(4, 4)
    x, wanted = movies[:, :-1], nextframe.target(head, movies)
    model.train_on_batch(x, wanted)
    path = os.path.join(scratch, FORMATS[format])
    model.save(path)

    def loads():
        try:
            loaded = tf.keras.models.load_model(path)
        except ValueError as error:
            raise Wrong("it cannot be loaded: %s" % error) from error
        same("its parameters", loaded.count_params(), nextframe.PARAMETERS[head])
        alike = np.array_equal(loaded.predict(x), model.predict(x))
        require(alike, "the loaded model predicts otherwise")
        return trains_on(model, loaded, x, wanted)

    return known.judged("saved." + format, loads, DEFECTS)


def trains_on(model, loaded, x, wanted):
    """Two more steps end in the same weights, which takes Adam's moments and its count."""
    for _ in range(2):
        model.train_on_batch(x, wanted)
        try:
            loaded.train_on_batch(x, wanted)
        except (ValueError, NotImplementedError) as error:
            # Keras cannot print the variable that it does not know: NotImplementedError.
            raise Wrong("the loaded model does not train: %s" % error) from error
    apart = max(float(np.max(abs(a - b))) for a, b in zip(weights(model), weights(loaded)))
    # Without the moments the next steps would be whole learning rates in other directions.
    text = "after two more steps the weights differ by %.2g" % apart
    require(apart <= 1e-3 * 0.01, text)
    return text


def no_format(tf, expect, format):
    """Why a release cannot save models in a format; empty when it can."""
    from tfsuite.releases import numbers

    version = numbers(expect["version"])
    if format == "savedmodel" and version < (2, 0):
        return "model.save() writes SavedModels from TensorFlow 2.0"
    if format == "savedmodel" and models.version(expect) == "3":
        return "Keras 3 exports SavedModels and does not load them as models"
    if format == "keras" and version < (2, 12):
        return "the .keras format came with TensorFlow 2.12"
    if format == "h5":
        try:
            import h5py  # noqa: F401
        except ImportError:
            return "h5py is not among this release's packages"
    return ""
