"""Ranges of TensorFlow versions, as `>=1.15,<2.0` or `>=1.15,!=2.0.*`.

Only numbers count: 2.6.5 is (2, 6, 5).
"""

import operator
import re

_OPERATORS = (
    (">=", operator.ge),
    ("<=", operator.le),
    ("==", operator.eq),
    ("!=", operator.ne),
    (">", operator.gt),
    ("<", operator.lt),
)


def numbers(version):
    """(2, 6, 5) of '2.6.5', '2.6.5-rc1' and '2.6.5+cpu'."""
    found = re.match(r"\d+(\.\d+)*", version)
    if not found:
        raise ValueError("not a version: %r" % version)
    return tuple(int(part) for part in found.group().split("."))


def holds(text, version):
    """Whether `version` is in every range of `text`; an empty text holds for all."""
    return all(_one(part.strip(), numbers(version)) for part in text.split(",") if part.strip())


def _one(part, version):
    if part.startswith("!=") and part.endswith(".*"):
        branch = numbers(part[2:-2])
        return version[: len(branch)] != branch
    for sign, compare in _OPERATORS:
        if part.startswith(sign):
            bound = numbers(part[len(sign) :])
            return compare(_pad(version), _pad(bound))
    raise ValueError("not a range: %r" % part)


def _pad(version):
    return version + (0,) * (3 - len(version))
