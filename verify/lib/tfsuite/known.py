"""Defects of released TensorFlows that the kernels' checks must find, and expect to find.

A case whose result is wrong where this table lists it comes out as `known`. One that is right
although it is listed is reported too: for the released wheel as a failure, since either the table
is wrong or the wheel is not the one that it says it is; for a wheel that somebody built, in words.
"""

import fnmatch

from tfsuite import expected, releases
from tfsuite.checks import KnownDefect, Wrong


class Defect(object):
    """One row.

    Attributes:
        cases: pattern of the cases' keys, `table.operation.type.what`.
        releases: the versions that have it, as measured on released wheels.
        reference: the public report, or how it was found.
        sure: False where it depends on the processor or on the number of threads.
        says: what the failure's message must contain.
    """

    def __init__(self, cases, releases, reference, sure=True, says=""):
        self.cases = cases
        self.releases = releases
        self.reference = reference
        self.sure = sure
        self.says = says


TABLE = ()


def listed(key, table):
    """The rows for a case in this release."""
    version = expected.load()["version"]
    return [
        row
        for row in table
        if fnmatch.fnmatchcase(key, row.cases) and releases.holds(row.releases, version)
    ]


def judged(key, call, table=None):
    """What `call` returns, unless it is wrong in a listed way or right against the list."""
    rows = listed(key, TABLE if table is None else table)
    try:
        result = call()
    except Wrong as error:
        for row in rows:
            if row.says in str(error):
                raise KnownDefect(str(error), row.reference, error.data) from error
        raise
    for row in rows:
        if row.sure:
            return _absent(row, result)
    return result


def _absent(row, result):
    text, data = result if isinstance(result, tuple) else (result, None)
    words = "the listed defect is absent: %s (%s)" % (row.cases, row.reference)
    if expected.load().get("released", True):
        raise Wrong("%s; %s" % (words, text), data)
    return "%s; %s" % (text, words), data
