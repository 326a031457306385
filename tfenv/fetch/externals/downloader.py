"""Bazel's own downloads through a mirror: the file of `--experimental_downloader_config`.

Patterns are matched without the scheme, and several rewrites of one address give several addresses
that are tried in turn (bazelbuild/bazel pull 12170; measured with 4.2.3).
"""

from __future__ import annotations

from tfenv.errors import UnsafeValueError


def config(mirror: str) -> str:
    """Rewrite rules for a mirror that keeps `<host>/<path>` of the originals.

    Args:
        mirror: its address.

    Raises:
        UnsafeValueError: the address would change the meaning of the file.
    """
    place = mirror.removeprefix("https://").rstrip("/")
    if not place or any(character.isspace() or character == "$" for character in place):
        raise UnsafeValueError(
            f"{mirror[:80]!r} is not the address of a mirror",
            "it may hold no space and no $",
            "give an address such as https://mirror.example/tf",
        )
    return f"rewrite (.*) {place}/$1\nrewrite (.*) $1\n"
