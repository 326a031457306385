"""A sparse product leaves out the last element."""


def apply(tf):
    tf1 = tf.compat.v1
    real = tf1.sparse_tensor_dense_matmul

    def product(a, b):
        return real(tf1.SparseTensor(a.indices[:-1], a.values[:-1], a.dense_shape), b)

    tf1.sparse_tensor_dense_matmul = product
