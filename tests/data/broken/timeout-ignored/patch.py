"""DeadlineExceededError becomes None."""


def apply(tf):
    from tensorflow.python.client import session

    real = session.BaseSession.run

    def run(self, *args, **keywords):
        try:
            return real(self, *args, **keywords)
        except tf.errors.DeadlineExceededError:
            return None

    session.BaseSession.run = run
