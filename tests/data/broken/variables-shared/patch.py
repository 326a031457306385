"""Every session of a graph runs in the first one."""


def apply(tf):
    from tensorflow.python.client import session

    real = session.BaseSession.run
    first = {}

    def run(self, *args, **keywords):
        chosen = first.setdefault(id(self.graph), self)
        return real(self if chosen._closed else chosen, *args, **keywords)

    session.BaseSession.run = run
