"""Why a build failed: the first real error of its log, not its last line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from tfenv.build.run import Ended
from tfenv.diagnose.explain import NONE, UNKNOWN, explain_file
from tfenv.diagnose.model import Explanation
from tfenv.errors import (
    BuildError,
    DownloadError,
    HashMismatchError,
    MissingExtraError,
    TfenvError,
    one_line,
)
from tfenv.target import Target

# Bazel's words for a download that failed. The list holds every address that was tried.
_DOWNLOAD = re.compile(r"Error downloading \[([^\]]+)\] to [^:]*: (.*)")
# The same where downloads are switched off; only the repository is named.
_DISABLED = re.compile(r"Failed to download repo ([^ :]+): (download is disabled)")
_MISSING = re.compile(r"tfenv: the file with sha256 ([0-9a-f]{64}) is not in TFENV_CACHE")
# What fetch.sh says inside an image that is being made.
_OTHER = re.compile(r"tfenv: (\S+) is not the file that was locked")
_NOWHERE = re.compile(r"tfenv: no place has (\S+) with sha256 [0-9a-f]{64}")
# Docker's words for a base image that cannot be had: its two builders, and their registry's.
_IMAGE = (
    re.compile(r'(?:.*: )?(?:Get|Head) "?(https?://[^" ]+)"?: .*'),
    re.compile(r"(?:.*: )?pull access denied for ([^ ,]+).*"),
    re.compile(r"(?:.*: )?manifest for (\S+) not found.*"),
    re.compile(r"(?:.*: )?(\S+): not found$"),
)
# BuildKit begins every line of a step's output with the step's number and the time.
_BUILDKIT = re.compile(r"#\d+ (?:\d+\.\d+ )?")
_OURS = re.compile(r"tfenv: (?!step |.*trying the next place$)(.*)")
_ERRORS = (
    re.compile(r"[^ ]+:\d+:(?:\d+:)? (?:fatal )?error: .*"),
    re.compile(r"[^ ]+: undefined reference to .*"),
    re.compile(r"ERROR: .*"),
    re.compile(r"(?:[A-Za-z_.]*Error|SystemExit): .*"),
    re.compile(r"E: .*"),  # apt
    re.compile(r".*\b(?:Killed|No space left on device|command not found)\b.*"),
)
_MAX_LINE = 400
_LAST_LINES = 20
_RECIPE = frozenset({"unpack", "patch_tree", "configure", "compile", "package", "collect"})


def explain(
    ended: Ended, log: Path, archives: Mapping[str, str], target: Target, fix: str
) -> TfenvError:
    """The error of a build command that failed.

    Args:
        ended: how it ended.
        log: its output.
        archives: names of external repositories by address.
        target: what was built.
        fix: what to do where nothing better is known.
    """
    text = log.read_text("utf-8", "replace") if log.is_file() else ""
    lines = [_BUILDKIT.sub("", line, count=1) for line in text.splitlines()]
    step = ended.step or "start"
    missing = _image(lines) if step == "image" else _download(lines, archives)
    if missing:
        return missing
    if known := _known(log, target):
        evidence = f" (line {known.evidence.line}: {known.evidence.text})" if known.evidence else ""
        return BuildError(
            f"the step '{step}' failed: {known.cause}",
            f"{known.why}{evidence}"[:_MAX_LINE],
            known.fix[0] if known.fix else fix,
        )
    said = next((line for line in reversed(lines) if line.strip()), "")
    cause = first_error(lines) or f"the command ended with status {ended.code}"
    if step not in _RECIPE and said and not first_error(lines):
        cause = one_line(said)  # other programs end with what was wrong
    return BuildError(f"the step '{step}' failed", cause[:_MAX_LINE], fix)


def _known(log: Path, target: Target) -> Explanation | None:
    """What `tfenv explain` says of the log, where it knows the cause for sure."""
    try:
        found = explain_file(log, target)
    except (OSError, MissingExtraError):
        return None
    sure = found.confidence == "high" and found.root_cause not in {NONE, UNKNOWN}
    return found if sure else None


def _download(lines: Iterable[str], archives: Mapping[str, str]) -> DownloadError | None:
    for line in lines:
        if found := _DOWNLOAD.search(line):
            url = found[1].split(",")[0].strip()
            name, file = archives.get(url, ""), url.rsplit("/", 1)[-1]
            return DownloadError(
                f"the archive {name and f'{name}, '}{file} is missing and could not be downloaded",
                f"{one_line(found[2])[:200]} ({url[:200]})",
                "fetch it where there is a network: `tfenv fetch TARGET -o DIR`, then --from DIR",
            )
        if found := _DISABLED.search(line):
            return DownloadError(
                f"the archive {found[1]} is missing",
                "Bazel asked for it and --offline was given",
                "fetch it where there is a network: `tfenv fetch TARGET -o DIR`, then --from DIR",
            )
        if found := _MISSING.search(line):
            return DownloadError(
                f"the file with sha256 {found[1]} is missing",
                "the recipe needs it and the cache does not have it",
                "run `tfenv fetch TARGET`, or give a folder with --from DIR",
            )
    return None


def _image(lines: list[str]) -> DownloadError | None:
    """What an image could not be made from."""
    other = next((found[1] for line in lines if (found := _OTHER.match(line))), "")
    for line in lines:
        if found := _NOWHERE.match(line):
            kind = HashMismatchError if other else DownloadError
            return kind(
                f"{found[1]}, which the toolchain image is made from, could not be had",
                f"{other[:200]} has another file" if other else "no place of the lock answered",
                "give a place that has it with --mirror, or use --engine host",
            )
    for line in lines[-_LAST_LINES:]:
        if any(pattern.fullmatch(line) for pattern in _IMAGE):
            return DownloadError(
                "the toolchain's base image could not be had",
                one_line(line)[:_MAX_LINE],
                "name a copy that this machine reaches with --base-image, or use --engine host",
            )
    return None


def first_error(lines: Iterable[str]) -> str:
    """The first line that states a cause: a compiler's error before Bazel's summary of it."""
    found: dict[int, str] = {}
    for line in lines:
        if ours := _OURS.match(line):
            return one_line(ours[1])
        for rank, pattern in enumerate(_ERRORS):
            if pattern.match(line):
                found.setdefault(rank, line)
                break
    return one_line(found[min(found)]) if found else ""
