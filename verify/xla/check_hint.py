"""tf.function(experimental_compile=True): the predecessor of jit_compile, 1.15 to 2.4."""

from tfsuite import xla
from tfsuite.checks import check, require
from tfsuite.lazy import np


@check(
    "xla.experimental_compile",
    proves="tf.function(experimental_compile=True) runs an XLA executable, with the same numbers.",
    catches=["jit-compile-ignored"],
    needs=["xla", "jit-keyword=experimental_compile"],
)
def check_experimental_compile(tf, tf1):
    tf1.enable_eager_execution()  # 1.15 compiles functions only when they are called eagerly
    x = np.random.RandomState(3).uniform(-1, 1, (8, 16)).astype("float32")
    before = len(xla.modules())
    function = tf.function(
        lambda w: tf.reduce_sum(tf.tanh(w * 2.0 + 1.0) * tf.exp(-w), axis=-1),
        experimental_compile=True,
    )
    got = function(tf.constant(x)).numpy()
    made = len(xla.modules()) - before
    require(made >= 1, "no HLO module was written: nothing was compiled")
    terms = np.tanh(x.astype("float64") * 2.0 + 1.0) * np.exp(-x.astype("float64"))
    scale = np.sum(np.abs(terms), axis=-1)
    worst = float(np.max(np.abs(got - np.sum(terms, axis=-1)) / (2.0**-24 * scale)))
    require(worst <= 16, "differs from float64 by %.3g eps*sum|x|, bound 16" % worst)
    return "%d HLO module(s); error %.2g eps*sum|x|" % (made, worst)
