"""enqueue_many() turns its elements round."""


def apply(tf):
    from tensorflow.python.ops import data_flow_ops

    real = data_flow_ops.QueueBase.enqueue_many

    def enqueue_many(self, vals, name=None):
        return real(self, [tf.compat.v1.reverse(vals[0], [0])], name)

    data_flow_ops.QueueBase.enqueue_many = enqueue_many
