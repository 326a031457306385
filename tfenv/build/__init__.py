"""Compile TensorFlow from a lock: steps as data, one script, four engines that run it."""
