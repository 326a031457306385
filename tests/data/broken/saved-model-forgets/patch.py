"""Variables are zero while they are saved."""


def apply(tf):
    real = tf.saved_model.save

    def save(module, folder, *arguments, **options):
        for variable in getattr(module, "variables", ()):
            variable.assign(variable * 0)
        return real(module, folder, *arguments, **options)

    tf.saved_model.save = save
