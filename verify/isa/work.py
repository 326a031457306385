"""Started by check_isa: a product and a convolution whose exact sums are known to be small."""

import json

import numpy as np
import tensorflow as tf

tf1 = getattr(getattr(tf, "compat", None), "v1", tf)
tf1 = tf1 if hasattr(tf1, "Session") else tf


def main():
    random = np.random.RandomState(61)
    a = random.uniform(-1, 1, (16, 64)).astype("float32")
    x = random.uniform(-1, 1, (1, 8, 8, 4)).astype("float32")
    k = random.uniform(-1, 1, (3, 3, 4, 4)).astype("float32")
    # Fed, not constant: what is constant is computed by the optimiser, before oneDNN comes in.
    with tf1.Graph().as_default(), tf1.Session() as session:
        left, right, image, kernel = [tf1.placeholder("float32", v.shape) for v in (a, a.T, x, k)]
        product = tf1.reduce_sum(tf1.matmul(left, right))
        filtered = tf1.reduce_sum(tf1.nn.conv2d(image, kernel, [1, 1, 1, 1], "SAME"))
        found = session.run([product, filtered], {left: a, right: a.T, image: x, kernel: k})
    print(json.dumps({"matmul": float(found[0]), "convolution": float(found[1])}))


main()
