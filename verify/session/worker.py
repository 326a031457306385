"""The second process of check_server: a worker that lives as long as its standard input."""

import sys

import tensorflow as tf

tf1 = getattr(getattr(tf, "compat", None), "v1", tf)
tf1 = tf1 if hasattr(tf1, "Session") else tf


def main():
    cluster = tf1.train.ClusterSpec({"worker": sys.argv[1:3]})
    server = tf1.train.Server(cluster, job_name="worker", task_index=1)
    server.start()
    print("ready")
    sys.stdout.flush()
    sys.stdin.read()


main()
