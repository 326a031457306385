"""Models on their way: fit, save, load in another process, go on."""

import json
import os
import subprocess
import sys

import pytest
from tfsuite import models, numerics
from tfsuite.checks import Wrong, check, require, same
from tfsuite.lazy import np

HERE = os.path.dirname(os.path.abspath(__file__))
EPS = numerics.UNIT["float32"]


def line(count=64):
    """Inputs and y = x.w + b with known w and b."""
    x = np.random.RandomState(41).uniform(-1, 1, (count, 3)).astype("float32")
    return x, (x.dot(np.array([[1.5], [-2.0], [0.5]])) + 0.25).astype("float32")


def linear(tf, rate=0.1):
    models.reset(tf)
    layers = tf.keras.layers
    model = tf.keras.models.Sequential([layers.Dense(1, input_shape=(3,))])
    model.compile(optimizer=tf.keras.optimizers.SGD(rate), loss="mse")
    model.set_weights([np.array([[0.1], [0.2], [0.3]], "float32"), np.array([0.4], "float32")])
    return model


@check(
    "workflow.fit_steps",
    proves="Keras's fit does what its definition says: the same weights as gradient descent by hand.",
    catches=["keras-gradient-sign", "keras-updates-lost"],
)
def check_fit_steps(tf):
    model = linear(tf)
    x, y = line()
    model.fit(x, y, batch_size=16, epochs=2, shuffle=False, verbose=0)
    w, b = np.array([[0.1], [0.2], [0.3]]), np.array([0.4])
    for _ in range(2):
        for start in range(0, len(x), 16):
            part, wanted = x[start : start + 16].astype("float64"), y[start : start + 16]
            error = part.dot(w) + b - wanted
            w = w - 0.1 * 2 * part.T.dot(error) / 16
            b = b - 0.1 * 2 * np.mean(error)
    got = model.get_weights()
    # Eight steps, each a sum of products below 4 in size.
    bound = 8 * 16 * EPS * 4
    worst = max(float(np.max(abs(got[0] - w))), float(np.max(abs(got[1] - b))))
    data = {"error": worst / bound, "bound": 1, "unit": "8*16*eps*4"}
    require(worst <= bound, "the weights differ by %.2g, bound %.2g" % (worst, bound), data)
    return "8 steps, weights within %.2g" % worst, data


@check(
    "workflow.fit_converges",
    proves="fit finds the line that the data lie on, and calls its callbacks in order.",
    catches=["keras-gradient-sign", "keras-updates-lost", "callbacks-dropped"],
)
def check_fit_converges(tf):
    calls = []

    class Note(tf.keras.callbacks.Callback):
        def on_train_begin(self, logs=None):
            calls.append("begin")

        def on_epoch_end(self, epoch, logs=None):
            calls.append(epoch)

        def on_train_end(self, logs=None):
            calls.append("end")

    model = linear(tf, 0.7)
    x, y = line()
    fitted = model.fit(
        x, y, batch_size=64, epochs=30, verbose=0, callbacks=[Note()], validation_split=0.25
    )
    same("the callbacks", calls, ["begin"] + list(range(30)) + ["end"])
    weights, offset = model.get_weights()
    worst = max(abs(weights[:, 0] - [1.5, -2.0, 0.5]).max(), abs(offset[0] - 0.25))
    require(worst < 0.01, "the line is off by %.3g" % worst)
    require(len(fitted.history["val_loss"]) == 30, "val_loss is missing")
    return "off by %.2g after 30 epochs" % worst


@check(
    "workflow.early_stopping",
    proves="EarlyStopping ends a training that does not improve; ModelCheckpoint keeps the best.",
    catches=["callbacks-dropped"],
)
def check_early_stopping(tf, expect, scratch):
    model = linear(tf, 0.0)  # nothing ever improves
    x, y = line(16)
    name = "best.weights.h5" if models.version(expect) == "3" else "best"
    path = os.path.join(scratch, name)
    callbacks = tf.keras.callbacks
    keep = callbacks.ModelCheckpoint(
        path, monitor="loss", save_best_only=True, save_weights_only=True
    )
    stop = callbacks.EarlyStopping(monitor="loss", patience=2)
    if models.version(expect) != "3" and not models.eager(tf) and not has_h5py():
        keep = None
    # Another order of the same rows gives another rounding of the loss: that would be "better".
    fitted = model.fit(
        x,
        y,
        batch_size=16,
        shuffle=False,
        epochs=50,
        verbose=0,
        callbacks=[c for c in (stop, keep) if c],
    )
    epochs = len(fitted.history["loss"])
    # TensorFlow 1.4's waits one epoch longer.
    require(3 <= epochs <= 4, "trained %d epochs, patience was 2" % epochs)
    kept = [n for n in os.listdir(scratch) if n.startswith("best")]
    require(kept or keep is None, "ModelCheckpoint wrote nothing")
    return "stopped after %d epochs, kept %s" % (epochs, ", ".join(sorted(kept)) or "nothing")


def has_h5py():
    try:
        import h5py  # noqa: F401
    except ImportError:
        return False
    return True


@check(
    "workflow.h5",
    proves="A model saved as HDF5 holds its weights as they are, and is loaded bit for bit.",
    catches=["keras-load-forgets"],
)
def check_h5(tf, scratch):
    if not has_h5py():
        pytest.skip("h5py is not among this release's packages")
    import h5py

    model = linear(tf)
    path = os.path.join(scratch, "line.h5")
    model.save(path)
    stored = []
    with h5py.File(path, "r") as file:
        file["model_weights"].visititems(
            lambda name, item: stored.append(item[...]) if hasattr(item, "shape") else None
        )
        config = file.attrs["model_config"]
    config = json.loads(config.decode() if isinstance(config, bytes) else config)
    same("the kind of model", config["class_name"], "Sequential")
    for weight in model.get_weights():
        require(any(np.array_equal(weight, item) for item in stored), "a weight is not in the file")
    loaded = tf.keras.models.load_model(path, compile=False)
    x, _ = line()
    require(
        np.array_equal(loaded.predict(x), model.predict(x)), "the loaded model predicts otherwise"
    )
    return "%d arrays in %d bytes" % (len(stored), os.path.getsize(path))


def elsewhere(script, *arguments):
    """The JSON that one of this folder's scripts prints in a new process."""
    command = [sys.executable, "-I", os.path.join(HERE, script)] + list(arguments)
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    lines = [n for n in done.stdout.decode(errors="replace").splitlines() if n.startswith("{")]
    if done.returncode or not lines:
        tail = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
        raise Wrong("the second process ended with status %d: %s" % (done.returncode, tail))
    return json.loads(lines[-1])


def save_line(tf, tf1, folder):
    """A SavedModel of y = x*w + b with w = 3, b = 0.5, by the interface of the release."""
    if models.eager(tf):

        class Line(tf.Module):
            def __init__(self):
                super(Line, self).__init__()
                self.w = tf.Variable(3.0)
                self.b = tf.Variable(0.5)

            @tf.function(input_signature=[tf.TensorSpec([None], tf.float32, name="x")])
            def __call__(self, x):
                return {"y": x * self.w + self.b}

        module = Line()
        tf.saved_model.save(module, folder, signatures=module.__call__)
        return
    with tf1.Graph().as_default(), tf1.Session() as session:
        x = tf1.placeholder("float32", [None], name="x")
        w, b = tf1.Variable(3.0), tf1.Variable(0.5)
        y = x * w + b
        session.run(tf1.global_variables_initializer())
        tf1.saved_model.simple_save(session, folder, {"x": x}, {"y": y}) if hasattr(
            tf1.saved_model, "simple_save"
        ) else built(tf1, session, folder, x, y)


def built(tf1, session, folder, x, y):
    """What simple_save does, for the releases before it."""
    saved = tf1.saved_model
    signature = saved.signature_def_utils.predict_signature_def({"x": x}, {"y": y})
    builder = saved.builder.SavedModelBuilder(folder)
    builder.add_meta_graph_and_variables(session, ["serve"], {"serving_default": signature})
    builder.save()


@check(
    "workflow.saved_model",
    proves="A SavedModel has the documented files and gives its values in another process.",
    catches=["saved-model-forgets", "saver-writes-zeros"],
    limit=150,
    profile="full",
)
def check_saved_model(tf, tf1, scratch):
    folder = os.path.join(scratch, "line")
    save_line(tf, tf1, folder)
    names = sorted(os.listdir(folder))
    require({"saved_model.pb", "variables"} <= set(names), "it holds %s" % names)
    said = elsewhere("load_saved.py", folder)
    same("y for x = 0, 1, -2", said["y"], [0.5, 3.5, -5.5])
    same("the signature's names", (said["inputs"], said["outputs"]), (["x"], ["y"]))
    return "y = %s in another process" % said["y"]


@check(
    "workflow.checkpoint",
    proves="A checkpoint restores variables, optimizer and counters bit for bit, and keeps so many.",
    catches=["checkpoint-not-restored"],
    releases=">=2.0",
)
def check_checkpoint(tf, scratch):
    v, step = tf.Variable([1.0, 2.0**-30]), tf.Variable(0, dtype="int64")
    checkpoint = tf.train.Checkpoint(v=v, step=step)
    manager = tf.train.CheckpointManager(checkpoint, scratch, max_to_keep=2)
    for number in range(4):
        step.assign(number)
        v.assign(v * 3)
        manager.save()
    want = v.numpy().copy()
    same("checkpoints kept", len(manager.checkpoints), 2)
    v.assign([0.0, 0.0])
    step.assign(99)
    status = checkpoint.restore(manager.latest_checkpoint)
    status.assert_consumed()
    require(np.array_equal(v.numpy(), want), "restored %s, saved %s" % (v.numpy(), want))
    same("the step", int(step.numpy()), 3)
    checkpoint.restore(manager.checkpoints[0])
    same("the step of the one before", int(step.numpy()), 2)
    return "two of four kept, bit for bit"


@check(
    "workflow.checkpoint_read",
    proves="A checkpoint's reader lists names, shapes and types without building the graph.",
    catches=["saver-writes-zeros", "checkpoint-reader-empty"],
)
def check_checkpoint_read(tf1, scratch):
    path = os.path.join(scratch, "model")
    with tf1.Graph().as_default(), tf1.Session() as session:
        tf1.get_variable("a/w", initializer=np.arange(6, dtype="float32").reshape(2, 3))
        tf1.get_variable("n", initializer=np.int64(7))
        session.run(tf1.global_variables_initializer())
        saved = tf1.train.Saver().save(session, path, global_step=5)
    same("its path", saved, path + "-5")
    same("the latest", tf1.train.latest_checkpoint(scratch), saved)
    reader = tf1.train.NewCheckpointReader(saved)
    shapes = {name: list(shape) for name, shape in reader.get_variable_to_shape_map().items()}
    same("the shapes", shapes, {"a/w": [2, 3], "n": []})
    same("a/w", reader.get_tensor("a/w").tolist(), [[0, 1, 2], [3, 4, 5]])
    same("n", int(reader.get_tensor("n")), 7)
    return "%s" % shapes
