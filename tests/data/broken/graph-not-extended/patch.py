"""The graph is handed over once."""


def apply(tf):
    from tensorflow.python.client import session

    real = session.BaseSession._extend_graph

    def extend(self, *args):
        if not getattr(self, "_tfbroken_extended", False):
            self._tfbroken_extended = True
            real(self, *args)

    session.BaseSession._extend_graph = extend
