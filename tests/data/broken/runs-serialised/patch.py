"""run() holds a lock."""

import threading


def apply(tf):
    from tensorflow.python.client import session

    real = session.BaseSession.run
    lock = threading.RLock()

    def run(self, *args, **keywords):
        with lock:
            return real(self, *args, **keywords)

    session.BaseSession.run = run
