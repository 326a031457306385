"""Jinja2, strict: an undefined name is an error, and every value is quoted by a filter."""

from __future__ import annotations

import functools
import json
import re
import shlex
from typing import TYPE_CHECKING, Any

from tfenv.errors import FileFormatError, UnsafeValueError
from tfenv.files import sha256_bytes
from tfenv.resources import templates

if TYPE_CHECKING:
    from jinja2 import Environment, Template

_PLAIN = re.compile(r"[A-Za-z0-9._:/@+=,-]*")


@functools.cache
def environment() -> Environment:
    """The templates of all formats."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    env = Environment(
        loader=FileSystemLoader(templates(), encoding="utf-8"),
        undefined=StrictUndefined,
        # The output is shell, Docker, Nix and YAML: HTML escaping would break it. Each value goes
        # through a filter of its format instead.
        autoescape=False,  # noqa: S701
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    env.filters |= {
        "sh": shell,
        "plain": plain,
        "json": as_json,
        "nix": nix,
        "ps": powershell,
        "sha256": sha256,
    }
    return env


def render(template: str, context: dict[str, Any]) -> str:
    """The text of a template, ended by one line feed and without doubled empty lines.

    Raises:
        FileFormatError: the template is damaged, or names a value that the plan does not have.
        UnsafeValueError: a value could change the meaning of the file.
    """
    from jinja2 import TemplateError

    try:
        text = _template(template).render(context)
    except TemplateError as error:
        raise FileFormatError(
            f"the template {template} cannot be rendered",
            str(error) or type(error).__name__,
            "reinstall tfenv, or undo the change to the template",
        ) from error
    while "\n\n\n" in text:
        text = text.replace("\n\n\n", "\n\n")
    return text.rstrip("\n") + "\n"


@functools.cache
def _template(name: str) -> Template:
    return environment().get_template(name)


def shell(value: object) -> str:
    """Quote for a POSIX shell."""
    return shlex.quote(str(value))


def plain(value: object) -> str:
    """A value that needs no quotes anywhere.

    Raises:
        UnsafeValueError: it holds another character.
    """
    text = str(value)
    if not _PLAIN.fullmatch(text):
        raise UnsafeValueError(
            f"{text[:60]!r} cannot stand in a generated file unquoted",
            "only letters, digits and . _ : / @ + = , - are plain",
            "correct the value in the lock or on the command line",
        )
    return text


def as_json(value: object) -> str:
    """Quote for JSON, YAML and TOML basic strings."""
    return json.dumps(value, ensure_ascii=False)


def nix(value: object) -> str:
    """Quote for Nix."""
    text = str(value).replace("\\", "\\\\").replace('"', '\\"').replace("${", "\\${")
    return f'"{text}"'


def powershell(value: object) -> str:
    """Quote for PowerShell."""
    return "'" + str(value).replace("'", "''") + "'"


def sha256(value: object) -> str:
    """A name for a text: the first half of its sha256."""
    return sha256_bytes(str(value).encode())[:32]
