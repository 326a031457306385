"""The version string is that of no release."""


def apply(tf):
    tf.__version__ = "9.9.9"
