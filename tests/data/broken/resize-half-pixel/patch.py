"""Pictures are resized with centres half a pixel away."""


def apply(tf):
    tf1 = tf.compat.v1
    real = tf1.image.resize_bilinear
    tf1.image.resize_bilinear = lambda x, size: real(x, size, half_pixel_centers=True)
