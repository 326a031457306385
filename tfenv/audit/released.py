"""The released wheel of a target, so that a built one can be compared with it."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from tfenv.audit.sbom import pins_of
from tfenv.errors import UsageError
from tfenv.lock import store

_DISTRIBUTIONS = frozenset({"tensorflow", "tensorflow-cpu", "tensorflow-gpu", "tensorflow-intel"})


def fetch(target: str, folder: Path) -> Path:
    """The wheel that the target's lock pins, by hash, under its own name in `folder`.

    Raises:
        UsageError: no lock ships for the target, or it holds no TensorFlow wheel.
        DownloadError: it could not be had.
    """
    from tfenv.fetch.cache import Cache
    from tfenv.fetch.stage import Source, fetch_items, python_items

    lock = store.shipped(target)
    pins = pins_of(lock) if lock else ()
    pin = next((p for p in pins if p.name in _DISTRIBUTIONS), None)
    if lock is None or pin is None:
        raise UsageError(
            f"nothing is known of a released wheel of {target[:60]}",
            "no lock ships for it, or none with TensorFlow in it",
            "give the wheel's file",
        )
    items = [item for item in python_items(lock) if item.sha256 == pin.sha256]
    (outcome,) = fetch_items(items, Source(), Cache())
    assert outcome.path is not None
    named = folder / pin.file
    named.parent.mkdir(parents=True, exist_ok=True)
    named.unlink(missing_ok=True)
    try:
        os.link(outcome.path, named)
    except OSError:
        shutil.copyfile(outcome.path, named)
    return named
