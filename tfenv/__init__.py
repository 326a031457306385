"""tfenv: TensorFlow toolchains that work, repeatably."""

__version__ = "0.1.0"
