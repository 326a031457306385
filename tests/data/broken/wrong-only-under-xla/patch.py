"""Results are wrong by 1e-3, but only when XLA compiles."""


def apply(tf):
    tf1 = tf.compat.v1
    real = tf.function

    def function(body=None, **options):
        if body is None or not options.get("jit_compile"):
            return real(body, **options) if body is not None else real(**options)

        def larger(*arguments):
            out = body(*arguments)
            return out * 1.001 if hasattr(out, "dtype") and out.dtype.is_floating else out

        return real(larger, **options)

    tf.function = function
