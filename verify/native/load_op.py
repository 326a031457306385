"""Started by check_programs: load the operation in a new process and print what it gives."""

import sys

import tensorflow as tf

tf1 = getattr(getattr(tf, "compat", None), "v1", tf)
tf1 = tf1 if hasattr(tf1, "Session") else tf


def main():
    module = tf.load_op_library(sys.argv[1])
    with tf1.Graph().as_default(), tf1.Session() as session:
        value = session.run(module.tfsuite_scale(tf1.constant(6.0), factor=7))
    print("value %s" % value)


main()
