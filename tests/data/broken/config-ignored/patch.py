"""The configuration is dropped."""


def apply(tf):
    from tensorflow.python.client import session

    real = session.BaseSession.__init__
    session.BaseSession.__init__ = lambda self, target="", graph=None, config=None: real(
        self, target, graph, None
    )
