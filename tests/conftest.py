"""What every test may use, and the rule that CI accepts no missing engine."""

from __future__ import annotations

import os
import signal
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import settings

# How long an example takes says how busy the machine is, not whether the code is right.
settings.register_profile("tfenv", deadline=None)
settings.load_profile("tfenv")

# What a shell starts in the background ignores Ctrl-C, and so would every program of a test.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

ROOT = Path(__file__).resolve().parents[1]
ENGINES = frozenset({"nix", "docker", "bazel", "tf", "browser"})
# Settings of the person who runs the tests must not change their outcome; these are the tests' own.
KEPT = frozenset({"TFENV_CACHE", "TFENV_CI_STRICT", "TFENV_NIXPKGS", "TFENV_TEST_INSTALLED"})


@pytest.fixture(autouse=True)
def own_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide the user's TFENV_* variables."""
    for name in os.environ:
        if name.startswith("TFENV_") and name not in KEPT:
            monkeypatch.delenv(name)


@pytest.fixture(scope="session")
def root() -> Path:
    """The checkout's root (a copy without the package when the wheel is tested)."""
    return ROOT


@pytest.fixture
def checkout() -> Path:
    """The checkout's root, for tests that read the package's source; skips for the wheel."""
    if installed():
        pytest.skip("reads the checkout, and the wheel is being tested")
    return ROOT


def installed() -> bool:
    """Whether the tests run against the built wheel rather than the checkout."""
    return os.environ.get("TFENV_TEST_INSTALLED") == "1"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """With TFENV_CI_STRICT=1 a test that skips for want of its engine has failed."""
    report = yield
    marks = {mark.name for mark in item.iter_markers()}
    strict = os.environ.get("TFENV_CI_STRICT") == "1"
    if strict and report.skipped and marks & ENGINES and "optional" not in marks:
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
        report.outcome = "failed"
        report.longrepr = f"CI has to have this test's engine, and it skipped: {reason}"
    return report
