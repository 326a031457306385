"""oneDNN switched on and off by TF_ENABLE_ONEDNN_OPTS: is it taken, and is it right?"""

from tfsuite import graphs, kernels_nn
from tfsuite.checks import require
from tfsuite.lazy import np

NAMES = (
    "matmul_odd matmul_vector batch_matmul conv2d_same conv2d_valid conv2d_stride conv2d_dilated "
    "conv2d_pointwise conv3d_same conv3d_stride depthwise_conv2d max_pool avg_pool softmax "
    "fused_batch_norm lrn bias_add"
).split()


def hold(name):
    """One row with the bounds that it has without oneDNN."""
    return kernels_nn.hold("nn", name, "float32")


def nodes():
    """oneDNN's nodes in the partition graph of a small convolution network."""
    tf1 = graphs.v1()
    with graphs.session() as session:
        x = tf1.placeholder("float32", [8, 32, 32, 16])
        w = tf1.placeholder("float32", [3, 3, 16, 32])
        y = tf1.nn.relu(tf1.nn.conv2d(x, w, strides=[1, 1, 1, 1], padding="SAME"))
        feed = {x: np.ones([8, 32, 32, 16]), w: np.ones([3, 3, 16, 32])}
        run = graphs.traced(session, y, feed)
    return sorted(op for op in run.ops() if op.startswith("_Mkl"))


def taken(on):
    found = nodes()
    if on:
        require(found, "TF_ENABLE_ONEDNN_OPTS=1 and no node of oneDNN ran")
    else:
        require(not found, "TF_ENABLE_ONEDNN_OPTS=0 and oneDNN ran: %s" % found)
    return ", ".join(found) or "no node of oneDNN"
