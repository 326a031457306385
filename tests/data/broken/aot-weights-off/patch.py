"""The frozen graph's constants are too large by 1e-3 when they are compiled ahead of time."""


def apply(tf):
    from tensorflow.python import _pywrap_tfcompile

    real = _pywrap_tfcompile.Compile
    tf1 = tf.compat.v1

    def compile_larger(graph, **rest):
        frozen = tf1.GraphDef()
        with open(graph, "rb") as stream:
            if graph.endswith(".pbtxt"):
                raise AssertionError("the graph is written as text")
            frozen.ParseFromString(stream.read())
        for node in frozen.node:
            if node.op == "Const" and node.attr["dtype"].type == tf.float32.as_datatype_enum:
                value = tf.make_ndarray(node.attr["value"].tensor)
                node.attr["value"].tensor.CopyFrom(tf.make_tensor_proto(value * 1.001))
        with open(graph, "wb") as stream:
            stream.write(frozen.SerializeToString())
        return real(graph=graph, **rest)

    _pywrap_tfcompile.Compile = compile_larger
