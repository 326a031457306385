"""Find the templates and the suite: beside the package in a checkout, inside it when installed."""

from __future__ import annotations

from pathlib import Path

from tfenv.errors import EnvironmentFailedError

_PACKAGE = Path(__file__).resolve().parent


def templates() -> Path:
    """The folder of Jinja2 templates, one folder per format."""
    return _folder("_templates", "templates")


def suite() -> Path:
    """The folder of the verification suite, with run.py in it."""
    return _folder("_suite", "verify")


def _folder(installed: str, checkout: str) -> Path:
    for folder in (_PACKAGE / installed, _PACKAGE.parent / checkout):
        if folder.is_dir():
            return folder
    raise EnvironmentFailedError(
        f"tfenv's own folder '{checkout}' is missing",
        f"it is neither at {_PACKAGE / installed} nor beside the package",
        "reinstall tfenv",
    )
