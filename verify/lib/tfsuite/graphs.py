"""Sessions, and what they leave behind: partition graphs and step statistics."""

import contextlib


def v1():
    """The module with Session: tf.compat.v1, or the whole of an old release."""
    import tensorflow as tf

    found = getattr(getattr(tf, "compat", None), "v1", None)
    return found if found is not None and hasattr(found, "Session") else tf


@contextlib.contextmanager
def session(config=None, target=""):
    """A Session on a new graph, closed at the end."""
    tf1 = v1()
    with tf1.Graph().as_default() as graph:
        opened = tf1.Session(target, graph=graph, config=config)
        try:
            yield opened
        finally:
            opened.close()


class Trace(object):
    """A run's value and what the runtime recorded of it."""

    def __init__(self, value, metadata):
        self.value = value
        self.partitions = list(metadata.partition_graphs)
        self.devices = list(metadata.step_stats.dev_stats)
        self.metadata = metadata

    def names(self):
        """Names of the nodes that the run consisted of, in all partitions."""
        return {node.name for graph in self.partitions for node in graph.node}

    def placed(self, name):
        """The devices whose statistics hold a node, sorted."""
        return sorted({d.device for d in self.devices for n in d.node_stats if n.node_name == name})

    def ops(self):
        """Kinds of the nodes, functions included."""
        nodes = [n for g in self.partitions for n in g.node]
        nodes += [n for g in self.partitions for f in g.library.function for n in f.node_def]
        return {node.op for node in nodes}

    def attributes(self):
        """Names of the attributes that any node has."""
        return {key for g in self.partitions for n in g.node for key in n.attr}


def traced(opened, fetches, feed=None, target=None):
    """Run with everything recorded."""
    tf1 = v1()
    options = tf1.RunOptions(trace_level=tf1.RunOptions.FULL_TRACE, output_partition_graphs=True)
    metadata = tf1.RunMetadata()
    value = opened.run(fetches, feed, options=options, run_metadata=metadata)
    return Trace(value, metadata)


def jit_config():
    """A session configuration that asks for auto-clustering."""
    tf1 = v1()
    config = tf1.ConfigProto()
    config.graph_options.optimizer_options.global_jit_level = tf1.OptimizerOptions.ON_2
    return config


def plain_config():
    """A session configuration with neither grappler nor constant folding, so that a graph runs
    as it was written."""
    tf1 = v1()
    config = tf1.ConfigProto()
    config.graph_options.optimizer_options.opt_level = tf1.OptimizerOptions.L0
    rewrite = config.graph_options.rewrite_options
    if hasattr(rewrite, "disable_meta_optimizer"):
        rewrite.disable_meta_optimizer = True
    return config
