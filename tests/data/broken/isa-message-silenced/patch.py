"""The native log is off before TensorFlow is loaded."""

import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"


def apply(tf):
    pass
