"""The mapper of lists puts the values back in reverse."""


def apply(tf):
    from tensorflow.python.client import session

    real = session._ListFetchMapper.build_results

    def build_results(self, values):
        results = real(self, values)
        return results[::-1] if type(results) in (list, tuple) else results

    session._ListFetchMapper.build_results = build_results
