"""The same graph on the same input, many times, on several threads: bit for bit the same?"""

from tfsuite import graphs, kernels
from tfsuite.checks import require
from tfsuite.lazy import np

RUNS = 12


def matmul(t, x):
    return t.matmul(x, x)


def conv(t, x):
    w = t.reshape(x[:3, :48], [3, 3, 4, 4])
    return t.nn.conv2d(
        t.reshape(x[:128, :128], [1, 64, 64, 4]), w, strides=[1, 1, 1, 1], padding="SAME"
    )


def scatter(t, x):
    return t.unsorted_segment_sum(x, t.range(256) % 7, 7)


def total(t, x):
    return t.reduce_sum(x)


def columns(t, x):
    return t.reduce_sum(x, 0)


def softmax(t, x):
    return t.nn.softmax(x)


def gradient(t, x):
    y = t.reduce_sum(t.tanh(t.matmul(x, x)))
    return t.gradients(y, x)[0]


BUILDS = {
    "matmul": matmul,
    "conv2d": conv,
    "unsorted_segment_sum": scatter,
    "reduce_sum": total,
    "reduce_sum_outer": columns,
    "softmax": softmax,
    "gradient": gradient,
}


def hold(name):
    """Every run of a kernel gives the bits of the first."""

    def call():
        tf1 = graphs.v1()
        x = kernels.random(name).standard_normal((256, 256)).astype("float32")
        config = tf1.ConfigProto(intra_op_parallelism_threads=4)
        with graphs.session(config) as session:
            place = tf1.placeholder("float32", x.shape)
            out = BUILDS[name](tf1, place)
            first = session.run(out, {place: x})
            for number in range(RUNS):
                again = session.run(out, {place: x})
                differ = int(np.sum(first.view("int32") != again.view("int32")))
                require(not differ, "run %d differs in %d elements" % (number + 2, differ))
        return "%d runs with the same bits" % (RUNS + 1)

    return kernels.case("determinism.%s.float32" % name, call)
