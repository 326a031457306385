"""run() of an Operation returns None at once."""


def apply(tf):
    from tensorflow.python.client import session
    from tensorflow.python.framework import ops

    real = session.BaseSession.run

    def run(self, fetches, *args, **keywords):
        if isinstance(fetches, ops.Operation):
            return None
        return real(self, fetches, *args, **keywords)

    session.BaseSession.run = run
