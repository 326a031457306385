"""Bazel's external archives: what a source tree's WORKSPACE chain would download.

The Starlark of the tree is evaluated by a real interpreter (the optional part `build` of tfenv);
rules record what they are asked for instead of downloading it.
"""
