"""_make_callable_from_options() never reaches the native session."""


def apply(tf):
    from tensorflow.python.client import session

    session.BaseSession._make_callable_from_options = lambda self, options: lambda *args: [0.0]
