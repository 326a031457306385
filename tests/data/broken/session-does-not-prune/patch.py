"""run() fetches all nodes besides those that were asked for, and feeds what is missing."""


def apply(tf):
    import numpy
    from tensorflow.python.client import session

    real = session.BaseSession.run

    def run(self, fetches, feed_dict=None, options=None, run_metadata=None):
        operations = self.graph.get_operations()
        feed = dict(feed_dict or {})
        fed = {getattr(key, "name", key) for key in feed}
        for operation in operations:
            if operation.type == "Placeholder" and operation.outputs[0].name not in fed:
                feed[operation.outputs[0]] = numpy.zeros((), "float32")
        rest = [operation for operation in operations if operation.type != "Placeholder"]
        return real(self, [fetches, rest], feed, options, run_metadata)[0]

    session.BaseSession.run = run
