"""One class per way to fail.

Each error says three things, one line each: what happened, why, and what to do next.
The exit codes are part of the command line's contract and are listed in the README.
"""

from __future__ import annotations

from typing import ClassVar

EXIT_OK = 0
EXIT_NOT_RIGHT = 1
EXIT_USAGE = 2
EXIT_CONFLICT = 3
EXIT_DOWNLOAD = 4
EXIT_BUILD = 5
EXIT_MISSING = 6
EXIT_ENVIRONMENT = 7
EXIT_INTERRUPTED = 130


class TfenvError(Exception):
    """Base of every failure that tfenv reports to a person.

    Attributes:
        what: what happened, one line.
        why: the reason, one line.
        fix: what to do next, one line.
    """

    kind: ClassVar[str] = "error"
    exit_code: ClassVar[int] = EXIT_NOT_RIGHT

    def __init__(self, what: str, why: str, fix: str) -> None:
        super().__init__(what)
        self.what = one_line(what)
        self.why = one_line(why)
        self.fix = one_line(fix)

    def lines(self) -> tuple[str, str, str]:
        """The message for a terminal."""
        return (f"error: {self.what}", f"  why: {self.why}", f"  fix: {self.fix}")

    def as_dict(self) -> dict[str, object]:
        """The message for a program: the `error` object of every command's `--json`."""
        return {
            "kind": self.kind,
            "what": self.what,
            "why": self.why,
            "fix": self.fix,
            "exit_code": self.exit_code,
        }


class UsageError(TfenvError):
    """The command line or a file handed to it cannot be understood."""

    kind = "usage"
    exit_code = EXIT_USAGE


class UnknownTargetError(UsageError):
    """A target name that does not parse, or that names nothing tfenv knows."""

    kind = "unknown-target"


class UnsafeValueError(UsageError):
    """A value that could change the meaning of a generated file (shell, TOML, Docker, Nix)."""

    kind = "unsafe-value"


class FileFormatError(UsageError):
    """A lock, report or table that is damaged or of a format this version does not read."""

    kind = "file-format"


class BadWheelError(TfenvError):
    """A wheel, archive or image that is damaged, or made to harm whoever opens it."""

    kind = "bad-wheel"


class ConflictError(TfenvError):
    """No toolchain satisfies the target and the user's choices."""

    kind = "conflict"
    exit_code = EXIT_CONFLICT


class UnpinnedError(ConflictError):
    """`--strict` met an artifact whose hash is not known."""

    kind = "unpinned"


class DownloadError(TfenvError):
    """A download failed at every place it may come from."""

    kind = "download"
    exit_code = EXIT_DOWNLOAD


class HashMismatchError(DownloadError):
    """A file arrived, and is not the file that was locked."""

    kind = "hash-mismatch"


class BuildError(TfenvError):
    """A build step failed."""

    kind = "build"
    exit_code = EXIT_BUILD


class MissingToolError(TfenvError):
    """An engine or program that this command needs is not there."""

    kind = "missing-tool"
    exit_code = EXIT_MISSING


class MissingExtraError(MissingToolError):
    """An optional part of tfenv is not installed."""

    kind = "missing-extra"

    def __init__(self, extra: str, module: str) -> None:
        super().__init__(
            f"this needs the optional part '{extra}' of tfenv",
            f"the Python package '{module}' is not installed",
            f"pip install 'tfenv[{extra}]'",
        )
        self.extra = extra


class NotHereError(MissingToolError):
    """The target cannot be built or verified on this operating system."""

    kind = "not-here"


class EnvironmentFailedError(TfenvError):
    """The Python environment for a run could not be made."""

    kind = "environment"
    exit_code = EXIT_ENVIRONMENT


class StoppedError(TfenvError):
    """The user stopped the work; it can be resumed."""

    kind = "interrupted"
    exit_code = EXIT_INTERRUPTED


def one_line(text: str) -> str:
    """Fold a message to one line and drop control characters, so that hostile input cannot
    repaint the terminal."""
    if not text.isprintable():
        text = "".join(c if c.isprintable() else " " for c in text)
    return " ".join(text.split())
