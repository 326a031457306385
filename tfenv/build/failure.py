"""Why a build failed: the first real error of its log, not its last line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from tfenv.build.run import Ended
from tfenv.diagnose.explain import NONE, UNKNOWN, explain_file
from tfenv.diagnose.model import Explanation
from tfenv.errors import BuildError, DownloadError, MissingExtraError, TfenvError, one_line
from tfenv.target import Target

# Bazel's words for a download that failed. The list holds every address that was tried.
_DOWNLOAD = re.compile(r"Error downloading \[([^\]]+)\] to [^:]*: (.*)")
# The same where downloads are switched off; only the repository is named.
_DISABLED = re.compile(r"Failed to download repo ([^ :]+): (download is disabled)")
_MISSING = re.compile(r"tfenv: the file with sha256 ([0-9a-f]{64}) is not in TFENV_CACHE")
_OURS = re.compile(r"tfenv: (?!step )(.*)")
_ERRORS = (
    re.compile(r"[^ ]+:\d+:(?:\d+:)? (?:fatal )?error: .*"),
    re.compile(r"[^ ]+: undefined reference to .*"),
    re.compile(r"ERROR: .*"),
    re.compile(r"(?:[A-Za-z_.]*Error|SystemExit): .*"),
    re.compile(r".*\b(?:Killed|No space left on device|command not found)\b.*"),
)
_MAX_LINE = 400


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
    lines = log.read_text("utf-8", "replace").splitlines() if log.is_file() else []
    if missing := _download(lines, archives):
        return missing
    step = ended.step or "start"
    if known := _known(log, target):
        evidence = f" (line {known.evidence.line}: {known.evidence.text})" if known.evidence else ""
        return BuildError(
            f"the step '{step}' failed: {known.cause}",
            f"{known.why}{evidence}"[:_MAX_LINE],
            known.fix[0] if known.fix else fix,
        )
    cause = first_error(lines) or f"the command ended with status {ended.code}"
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
