"""as_graph_def() writes producer version 1."""


def apply(tf):
    from tensorflow.python.framework import ops

    real = ops.Graph.as_graph_def

    def as_graph_def(self, *args, **keywords):
        definition = real(self, *args, **keywords)
        definition.versions.producer = 1
        return definition

    ops.Graph.as_graph_def = as_graph_def
