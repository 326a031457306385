"""run() sends zeros of the same shape and type."""


def apply(tf):
    import numpy
    from tensorflow.python.client import session

    real = session.BaseSession.run

    def run(self, fetches, feed_dict=None, options=None, run_metadata=None):
        feed = dict(feed_dict or {})
        for key, value in feed.items():
            if numpy.asarray(value).dtype.kind in "fi":
                feed[key] = numpy.zeros_like(value)
        return real(self, fetches, feed, options, run_metadata)

    session.BaseSession.run = run
