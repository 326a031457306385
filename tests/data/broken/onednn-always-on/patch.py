"""OneDNN is always on, whatever its switch says: the switch is set before TensorFlow reads it."""

import os

os.environ["TF_ENABLE_ONEDNN_OPTS"] = "1"


def apply(tf):
    del tf
