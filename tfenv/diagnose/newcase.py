"""Make a test case of a log: anonymised, shortened, and still explained the same way."""

from __future__ import annotations

import json

from tfenv.diagnose import anonymise, lines
from tfenv.diagnose.explain import explain_text
from tfenv.diagnose.model import Explanation

_HEAD, _BEFORE, _AFTER = 60, 150, 60  # lines that are kept around the evidence
_LIMIT = 2000  # lines of a case


def render(log: bytes, answer: Explanation) -> str:
    """The case as TOML: what is expected, and the log. `tests/data/failures` holds such files."""
    encoding = lines.encoding_of(log[:4000])
    text = log.decode(encoding, "replace") if encoding != "utf-8" else lines.decode(log)
    cleaned = [
        anonymise.clean(lines.display(line.encode())) for line in text.lstrip("\ufeff").splitlines()
    ]
    kept = _shortened(cleaned, answer)
    head = (
        f"# A failure kept as a test. Look through it before you share it.\n"
        f"expect = {quoted(answer.root_cause)}\n"
        f"evidence = {quoted(anonymise.clean(answer.evidence.text) if answer.evidence else '')}\n"
    )
    return head + "log = [\n" + "".join(f"  {quoted(line)},\n" for line in kept) + "]\n"


def _shortened(cleaned: list[str], answer: Explanation) -> list[str]:
    """The lines around the evidence, as far as they are explained like the whole."""
    if answer.evidence is None or len(cleaned) <= _HEAD + _BEFORE + _AFTER:
        return cleaned[:_LIMIT]
    place = answer.evidence.line - 1
    start = max(_HEAD, place - _BEFORE)
    short = cleaned[:_HEAD] + cleaned[start : place + _AFTER]
    same = explain_text("\n".join(short)).root_cause == answer.root_cause
    return short if same else cleaned[:_LIMIT]


def quoted(text: str) -> str:
    """A TOML basic string; JSON's escapes are among TOML's. Colours stay, as escapes."""
    kept = "".join(c for c in text if c.isprintable() or c in "\t\x1b")
    return json.dumps(kept, ensure_ascii=False)
