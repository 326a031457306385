"""OneDNN is always off, whatever its switch says: the switch is set before TensorFlow reads it."""

import os

os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"


def apply(tf):
    del tf
