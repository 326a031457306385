"""Real environments for the tests of real wheels."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.wheels import exam
from tfenv import target as targets
from tfenv.errors import EnvironmentFailedError
from tfenv.verify.environment import Environment


@pytest.fixture(scope="session")
def healthy() -> Callable[[str], Environment]:
    """The environment of a target, from the cache or made now; skips where neither can be."""

    def make(name: str) -> Environment:
        try:
            return exam.healthy(targets.parse(name))
        except EnvironmentFailedError as error:
            pytest.skip(f"{error.what}: {error.why}")

    return make
