"""The function behind 'mae' squares."""


def apply(tf):
    import importlib

    module = importlib.import_module(tf.keras.losses.MeanAbsoluteError.__module__)
    for name in ("mean_absolute_error", "mae", "MAE"):
        setattr(module, name, module.mean_squared_error)
