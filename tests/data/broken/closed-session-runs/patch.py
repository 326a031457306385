"""close() does nothing."""


def apply(tf):
    from tensorflow.python.client import session

    session.BaseSession.close = lambda self: None
