"""The inverse Fourier transform is not divided by its length."""


def apply(tf):
    tf1 = tf.compat.v1
    real = tf1.ifft
    tf1.ifft = lambda x: real(x) * int(x.shape[-1])
