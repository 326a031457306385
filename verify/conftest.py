"""The link between pytest and run.py: which checks apply, and one event per step.

Written for Python 3.6 and pytest 7.0 to 9.
"""

import json
import os
import time

import pytest
from tfsuite import checks, expected


def pytest_collection_modifyitems(items):
    listing = os.environ.get("TFSUITE_LIST")
    if listing:
        with open(listing, "w", encoding="utf-8") as stream:
            json.dump([describe(item) for item in items], stream)
        return
    with open(os.environ["TFSUITE_DONE"], encoding="utf-8") as stream:
        done = set(json.load(stream))
    items[:] = [item for item in items if describe(item)["id"] not in done]
    emit(event="collected", checks={c["id"]: c["suite"] for c in map(describe, items)})


def describe(item):
    """A check as run.py knows it. A parametrised check is one check per case."""
    meta = item.function.check
    case = getattr(item, "callspec", None)
    return {
        "id": meta.id + ("[%s]" % case.id if case else ""),
        "suite": meta.id.split(".")[0],
        "file": "/".join(item.nodeid.split("::")[0].split("/")[-2:]),
        "proves": meta.proves,
        "catches": list(meta.catches),
        "releases": meta.releases,
        "needs": list(meta.needs),
        "limit": meta.limit,
    }


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    reason = item.function.check.why_not(expected.load())
    if reason:
        pytest.skip(reason)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item):
    check = describe(item)
    emit(event="start", id=check["id"], suite=check["suite"], limit=check["limit"])
    item.outcome = None
    started = time.time()
    yield
    status, detail, data = item.outcome or ("failed", "no result", None)
    fields = {"id": check["id"], "suite": check["suite"], "status": status, "detail": detail}
    if data:
        fields["data"] = data
    emit(event="result", seconds=round(time.time() - started, 3), **fields)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    yield
    found = outcome(item, call)
    if found is not None and (item.outcome is None or found[0] == "failed"):
        item.outcome = found


def outcome(item, call):
    """What one phase (setup, call, teardown) of a check says about it."""
    if call.excinfo is None:
        if call.when != "call":
            return None
        detail, data = checks.evidence(item.function)
        return ("passed", detail, data)
    error = call.excinfo.value
    if isinstance(error, pytest.skip.Exception):
        return ("skipped", one_line(error.msg), None)
    if isinstance(error, checks.KnownDefect):
        return ("known", one_line(error), error.data)
    if isinstance(error, KeyboardInterrupt):
        return None
    where = ""
    if not isinstance(error, AssertionError):
        last = call.excinfo.traceback[-1]
        where = " (%s:%d)" % (os.path.basename(str(last.path)), last.lineno + 1)
    text = "%s: %s" % (type(error).__name__, error)
    if isinstance(error, checks.Wrong):
        text = str(error)
    return ("failed", one_line(text) + where, getattr(error, "data", None))


def one_line(text, limit=500):
    line = " ".join(str(text).split())
    # The cause stands at the beginning of some messages and at the end of others.
    return line if len(line) <= limit else line[: limit // 2] + " … " + line[-limit // 2 :]


def pytest_collectreport(report):
    if report.failed and "TFSUITE_EVENTS" in os.environ:
        text = getattr(report.longrepr, "longrepr", report.longrepr)
        last = [line for line in str(text).splitlines() if line.startswith("E ")][-1:]
        emit(event="unreadable", detail=one_line("%s %s" % (report.nodeid, " ".join(last))))


def pytest_sessionfinish(exitstatus):
    # 0: all passed, 1: some failed, 5: nothing was left to run. 2: a file could not be read.
    if "TFSUITE_EVENTS" in os.environ and exitstatus in (0, 1, 5):
        emit(event="finished")


def emit(**fields):
    with open(os.environ["TFSUITE_EVENTS"], "a", encoding="utf-8") as stream:
        stream.write(json.dumps(fields, sort_keys=True, default=str) + "\n")


@pytest.fixture(scope="session")
def expect():
    """What the wheel should be: the content of expect.json."""
    return expected.load()


@pytest.fixture(scope="session")
def tf():
    """TensorFlow, imported once per process and only when a check asks for it."""
    import tensorflow

    return tensorflow


@pytest.fixture(scope="session")
def tf1():
    """The interface with Session: tf.compat.v1, or the whole of an old release."""
    from tfsuite import graphs

    return graphs.v1()


@pytest.fixture
def scratch(tmp_path):
    return str(tmp_path)
