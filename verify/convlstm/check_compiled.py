"""The next-frame model under XLA: compiled, and within the same bound of the same reference."""

import pytest
from tfsuite import convlstm, graphs, models, xla
from tfsuite.checks import check, require
from tfsuite.lazy import np


def movie():
    random = np.random.RandomState(21)
    return random.uniform(-1, 1, (2, 4, 6, 5, 3)).astype("float32")


def layer(tf):
    made = tf.keras.layers.ConvLSTM2D(
        4, 3, padding="same", recurrent_activation="sigmoid", return_sequences=True
    )
    model = models.one_layer(tf, made, (4, 6, 5, 3))
    weights = convlstm.weights(3, 4, 22)
    model.set_weights(weights)
    return model, weights


def compiled(tf, expect, model, x):
    """The model's output from an XLA executable, by what the release calls it."""
    keyword = expect.get("features", {}).get("jit-keyword", "none")
    if not models.eager(tf):
        return in_session(tf, model, x)
    if keyword == "none":
        pytest.skip("this release's tf.function has no keyword for XLA")
    call = tf.function(lambda v: model(v, training=False), **{keyword: True})
    return call(tf.constant(x)).numpy()


def in_session(tf, model, x):
    tf1 = graphs.v1()
    placeholder = tf1.placeholder("float32", x.shape)
    (out,) = xla.compiler()(lambda v: model(v), [placeholder])
    run = graphs.traced(tf1.keras.backend.get_session(), out, {placeholder: x})
    require("XlaLaunch" in run.ops(), "the run has no XlaLaunch node: %s" % sorted(run.ops()))
    return run.value


@check(
    "convlstm.xla_equal",
    proves="Under XLA the layer is compiled, and every output is what the cell's equations give.",
    catches=["jit-compile-ignored", "wrong-under-xla"],
    needs=["xla"],
)
def check_xla_equal(tf, expect):
    models.reset(tf)
    model, weights = layer(tf)
    x = movie()
    (want, bound), _ = convlstm.run(x, weights)
    convlstm.hold(model.predict(x), want, bound)
    # 1.13 cannot dump its modules; there the node of the cluster is the proof.
    dumps = expect.get("features", {}).get("hlo-dump") != "absent"
    before = len(xla.modules()) if dumps else 0
    got = compiled(tf, expect, model, x)
    made = len(xla.modules()) - before if dumps else 0
    require(made >= 1 or not dumps, "no HLO module was written: nothing was compiled")
    text, data = convlstm.hold(got, want, bound)
    return "%s; %s" % ("%d HLO modules" % made if dumps else "one XlaLaunch node", text), data


@check(
    "convlstm.gpu_equal",
    proves="On a GPU every output of the layer is what the cell's equations give.",
    catches=["convlstm-leaks"],
)
def check_gpu_equal(tf, expect):
    reason = no_gpu(tf, expect)
    if reason:
        pytest.skip(reason)
    models.reset(tf)
    with tf.device("/GPU:0"):
        model, weights = layer(tf)
    x = movie()
    (want, bound), _ = convlstm.run(x, weights)
    return convlstm.hold(model.predict(x), want, bound)


def no_gpu(tf, expect):
    """Why no GPU can be used; empty when one can."""
    if expect.get("variant") != "cuda":
        return "a CPU build has no GPU kernels"
    if expect.get("device") == "cpu":
        return "--device cpu: no GPU checks"
    found = tf.config.list_physical_devices if hasattr(tf, "config") else None
    if found is None or not hasattr(tf.config, "list_physical_devices"):
        visible = tf.test.is_gpu_available()
    else:
        visible = bool(found("GPU"))
    return "" if visible else "TensorFlow sees no GPU on this machine: see device.gpu"
