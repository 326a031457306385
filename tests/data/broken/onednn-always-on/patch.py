"""OneDNN is always on, whatever its switch says."""


def apply(tf):
    tf1 = tf.compat.v1
    import os

    del tf1
    os.environ["TF_ENABLE_ONEDNN_OPTS"] = "1"
