"""Every hundredth run of an operation is left out."""


def apply(tf):
    import itertools

    from tensorflow.python.client import session
    from tensorflow.python.framework import ops

    real = session.BaseSession.run
    numbers = itertools.count(1)

    def run(self, fetches, *args, **keywords):
        if isinstance(fetches, ops.Operation) and next(numbers) % 100 == 0:
            return None
        return real(self, fetches, *args, **keywords)

    session.BaseSession.run = run
