"""The condition of while_loop also looks one step ahead."""


def apply(tf):
    tf1 = tf.compat.v1
    real = tf1.while_loop

    def while_loop(cond, body, loop_vars, *args, **keywords):
        def early(*values):
            return tf1.logical_and(cond(*values), cond(values[0] + 1, *values[1:]))

        return real(early, body, loop_vars, *args, **keywords)

    tf1.while_loop = while_loop
