"""A check: one verified property of an installed TensorFlow."""

import functools
import sys

from tfsuite import releases as ranges

_EVIDENCE = {}


class Wrong(AssertionError):
    """The property does not hold. `data` goes into the report."""

    def __init__(self, message, data=None):
        super(Wrong, self).__init__(message)
        self.data = data


class KnownDefect(Exception):
    """The release is listed as having this defect, and has it."""

    def __init__(self, message, reference, data=None):
        super(KnownDefect, self).__init__("%s (%s)" % (message, reference))
        self.data = data


class Meta(object):
    """What is known of a check without running it.

    Attributes:
        id: `<area>.<name>`, stable: reports are compared by it.
        proves: one sentence.
        catches: names of the broken subjects that it must fail on.
        releases: the TensorFlow versions that it applies to, as `>=1.15,<2.0`.
        needs: features of the release, as `xla` or `jit=jit_compile`.
        platforms: prefixes of sys.platform, empty for all.
        limit: seconds after which it is stopped and has failed: there for what hangs, so it has
            to suffice on a busy machine.
    """

    def __init__(self, id, proves, catches, releases, needs, platforms, limit, profile):
        self.id = id
        self.proves = proves
        self.catches = catches
        self.releases = releases
        self.needs = needs
        self.platforms = platforms
        self.limit = limit
        self.profile = profile

    def why_not(self, expect):
        """The reason that it does not apply here; empty when it does."""
        if not ranges.holds(self.releases, expect["version"]):
            return "applies to TensorFlow %s" % self.releases
        for need in self.needs:
            name, _, value = need.partition("=")
            has = expect.get("features", {}).get(name, "unknown")
            if value and has not in value.split("|"):
                return "this release has %s = %s, the check is for %s" % (name, has, value)
            if not value and has in ("absent", "none"):
                return "TensorFlow %s has no %s" % (expect["version"], name)
        if self.platforms and not sys.platform.startswith(tuple(self.platforms)):
            return "runs on %s only" % ", ".join(self.platforms)
        if self.profile == "full" and expect.get("profile") == "quick":
            return "only in the full profile: --profile full"
        return ""


def check(
    id,
    proves,
    catches=(),
    releases="",
    needs=(),
    platforms=(),
    limit=300,
    profile="quick",
):
    """Mark a function as a check. What it returns is its evidence: text, or (text, data)."""

    def mark(function):
        @functools.wraps(function)
        def run(*args, **kwargs):
            _EVIDENCE[id] = function(*args, **kwargs)

        run.check = Meta(id, proves, catches, releases, needs, platforms, limit, profile)
        return run

    return mark


def evidence(function):
    """(text, data) of the last run of a check."""
    value = _EVIDENCE.pop(function.check.id, None)
    text, data = value if isinstance(value, tuple) else (value, None)
    return (text or "", data)


def same(what, got, want):
    """Fail unless `got` equals `want`."""
    if got != want:
        raise Wrong("%s is %r, expected %r" % (what, got, want))


def require(condition, message, data=None):
    """Fail with `message` unless `condition` holds."""
    if not condition:
        raise Wrong(message, data)


def raises(classes, call, what):
    """Fail unless `call` ends in one of `classes`; returns the exception."""
    try:
        call()
    except classes as error:
        return error
    except Exception as error:  # another class than the documented one is the finding
        raise Wrong("%s raised %s: %s" % (what, type(error).__name__, str(error)[:200])) from error
    raise Wrong("%s raised nothing" % what)
